function h = half_width(mechanism, confidence)
%HALF_WIDTH  The smallest whole h with P(|noise| > h) <= 1 - confidence; doubles err to the wide.
%   P(|noise| > h) = 2 a^(h + 1) / (1 + a), a = exp(-1/scale).
h = 0;
if mechanism.width > 0
    tail = log(2 / (1 + exp(-1 / mechanism.width)) / (1 - confidence));
    h = max(ceil(mechanism.width * tail * (1 + 2 ^ -44)) - 1, 0);
end
end
