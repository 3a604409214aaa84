function depth = tukey_depth(points, data, directions)
%TUKEY_DEPTH  How many rows the emptiest closed half-space around each point holds.
%   depth = halfmask.depth.tukey_depth(points, data, directions), points (m, d), data (n, d),
%   directions (k, d), depth (m, 1): the least count, from 0 to n, along these directions. On a line
%   (d = 1) it is exact and needs none; in more dimensions it is never below the true depth.
%   Directions must not come from the data if what follows is to be private. Not private itself.
%
%   One row more or fewer moves a depth by at most 1. [Tukey 1975; Cuesta-Albertos & Nieto-Reyes
%   2008, The random Tukey depth]
%
%   Example
%       halfmask.depth.tukey_depth([2; 9], [1; 2; 2; 4])
%
%   See also halfmask.depth.spatial_depth
[points, data] = halfmask.depth.both(points, data);
d = size(data, 2);
if nargin < 3 && d == 1
    directions = 1;
elseif nargin < 3
    error('halfmask:directions', ...
        'directions: needed in %d dimensions; give a matrix with %d columns', d, d);
end
if ~(isnumeric(directions) && size(directions, 2) == d && all(isfinite(directions(:))))
    error('halfmask:directions', 'directions: give a matrix of numbers with %d columns', d);
end
depth = size(data, 1) * ones(size(points, 1), 1);
for ray = directions'
    along = data * ray;
    at = points * ray;
    for i = 1:numel(depth)
        depth(i) = min([depth(i), nnz(along <= at(i)), nnz(along >= at(i))]);
    end
end
end
