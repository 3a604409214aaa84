function mechanism = laplace(sensitivity, epsilon)
%LAPLACE  The discrete Laplace mechanism: its exact scale, and what is to be said of it.
%   mechanism = halfmask.parts.laplace(sensitivity, epsilon), the sensitivity a whole number of grid
%   steps in L1, epsilon a ratio. Sensitivity 0 means that no noise is needed.
%   mechanism.deviation is the standard deviation, mechanism.width the scale, in grid steps.
%
%   Privacy: epsilon-DP with scale = sensitivity/epsilon. [Ghosh, Roughgarden & Sundararajan 2012]
%   In a vector every grid step of L1 distance changes log P by at most 1/scale.
if sensitivity == 0
    mechanism = struct('scale', [], 'width', 0, 'deviation', 0);
    return
end
scale = halfmask.exact.ratio( ...
    halfmask.exact.multiply(halfmask.exact.whole(sensitivity), epsilon.den), epsilon.num);
largest = halfmask.exact.move(scale.den, 55);
if halfmask.exact.compare(scale.num, largest) > 0
    error('halfmask:scale', ['scale: the noise would have scale %.2g, above 2^55; use a larger ' ...
        'epsilon'], halfmask.exact.to_double(scale));
end
width = halfmask.exact.to_double(scale);
deviation = sqrt(2 * exp(-1 / width)) / -expm1(-1 / width);
mechanism = struct('scale', scale, 'width', width, 'deviation', deviation);
end
