function [form, law] = mean_centred(sums, width, request)
%MEAN_CENTRED  Two-sided sums, then, for large counts, the sum about a private centre.
%   sums are the exact totals of (width - v) and of v over the rows. A first look at 1/200 of the
%   price shows count and centre; then a plan (halfmask.parts.centring) says how much more to spend
%   on looking, and the rest buys the sum about the centre, or the same two sums again where there
%   are too few rows for it. form is the ratio that joins them all.
%
%   Privacy: parts of the price add up; a row moves the pair of sums by one width in L1, and the sum
%   about c = centre/1024 by at most max(c, 1 - c) widths. [Dwork, McSherry, Nissim & Smith 2006]
looks = look(sums, width, request, 1);
plan = halfmask.parts.centring(looks, @(share) variance_at(share, width, request));
if plan.share > 1
    looks(2) = look(sums, width, request, plan.share - 1);
end
if ~plan.centred
    looks(end + 1) = look(sums, width, request, 200 - plan.share);
    form = halfmask.parts.joined(looks);
    law = looks(end).law;
    return
end
centre = round(1024 * halfmask.parts.theta(halfmask.parts.joined(looks)));
centre = min(max(centre, 1), 1023);
mechanism = halfmask.parts.laplace(width * max(centre, 1024 - centre), ...
    halfmask.parts.part_of(request.epsilon, 200 - plan.share, 200));
total = sums(2, :) * (1024 - centre) - sums(1, :) * centre;
one = width * 1024;
noisy = halfmask.parts.add_noise(total, mechanism, request.words) / one;
form = halfmask.parts.joined(looks, noisy, mechanism.deviation / one / sqrt(2), centre / 1024);
law = halfmask.parts.law_text(mechanism, 1 / one);
end

function mechanism = two_sided(share, width, request)
% The noise of the pair of sums at share/200 of the price.
mechanism = halfmask.parts.laplace(width, halfmask.parts.part_of(request.epsilon, share, 200));
end

function variance = variance_at(share, width, request)
% The variance of the noise of one of the pair, in squared rows.
mechanism = two_sided(share, width, request);
variance = (mechanism.deviation / width) ^ 2;
end

function seen = look(sums, width, request, share)
% The noisy pair of sums at share/200 of the price, in rows.
mechanism = two_sided(share, width, request);
seen = struct('noisy', halfmask.parts.add_noise(sums, mechanism, request.words) / width, ...
    'scale', mechanism.deviation / width / sqrt(2), ...
    'law', halfmask.parts.law_text(mechanism, 1 / width));
end
