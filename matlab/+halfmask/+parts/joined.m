function form = joined(looks, noisy, scale, c)
%JOINED  Join looks, and the sum T about a centre c where there is one, into one ratio.
%   form = halfmask.parts.joined(looks), or joined(looks, noisy, scale, c) with the noisy T. Each
%   look says A - t(A + B) = 0, the centred sum says T - (t - c) n = 0 with n from the looks; the
%   forms are weighted by the inverse of their noise's variance (least squares) and added.
precisions = 1 ./ (2 * [looks.scale] .^ 2);
total = precisions * ones(numel(looks), 1);
counting = precisions / total;
if nargin == 1
    form = weighted(looks, counting, 0 * counting, 0);
    return
end
form = halfmask.parts.joined(looks);
t = halfmask.parts.theta(form);
count = max(form.bottom' * form.noisy, 1);
two_sided = (1 - t) ^ 2 + t ^ 2;
of_looks = two_sided / total;
of_last = 2 * scale ^ 2 + (t - c) ^ 2 * 2 / total ...
    + halfmask.parts.crossed(t) / (total * count) ^ 2;
share = of_last / (of_last + of_looks);
form = weighted(looks, share * counting, (1 - share) * counting, c);
form.noisy(end + 1) = noisy;
form.top(end + 1) = 1 - share;
form.bottom(end + 1) = 0;
form.scale(end + 1) = scale;
end

function form = weighted(looks, own, counts, c)
% Weight the parts of each look: as a form of its own, and as the count beside T.
form = struct('noisy', [], 'top', [], 'bottom', [], 'scale', []);
for i = 1:numel(looks)
    form.noisy = [form.noisy; looks(i).noisy];
    form.top = [form.top; own(i) * [0; 1] + counts(i) * c];
    form.bottom = [form.bottom; (own(i) + counts(i)) * [1; 1]];
    form.scale = [form.scale; looks(i).scale * [1; 1]];
end
end
