function c = crossed(t)
%CROSSED  The mean of the looks' squared error in centre, times that in count, over V^2.
%   With N, M independent Laplace noises of variance V on the upper and the lower sum, the errors
%   are (1-t)N - tM and N + M; as E N^4 = 6 V^2, the product of their squares has this mean.
c = 7 * ((1 - t) ^ 2 + t ^ 2) - 4 * t * (1 - t);
end
