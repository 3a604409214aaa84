function depth = spatial_depth(points, data)
%SPATIAL_DEPTH  How central points are: 1 - |mean over rows x of (x - t)/|x - t|| for each point t.
%   depth = halfmask.depth.spatial_depth(points, data), points (m, d), data (n, d), depth (m, 1). A
%   row at t counts as 0. Not private: what is here sees the rows as they are.
%
%   One row more or fewer moves the sum of unit vectors by at most 1 in length, whatever d.
%   [Vardi & Zhang 2000, The multivariate L1-median and associated data depth]
%
%   Example
%       halfmask.depth.spatial_depth([0 0; 9 9], [1 0; -1 0; 0 1; 0 -1])
%
%   See also halfmask.depth.tukey_depth, halfmask.coordinatewise_median
[points, data] = halfmask.depth.both(points, data);
depth = zeros(size(points, 1), 1);
for i = 1:size(points, 1)
    gaps = data - points(i, :);
    largest = max(abs(gaps), [], 2);  % scaled by it, no square over- or underflows
    gaps = gaps(largest > 0, :) ./ largest(largest > 0);
    units = gaps ./ sqrt(sum(gaps .^ 2, 2));
    depth(i) = max(0, 1 - norm(sum(units, 1)) / size(data, 1));
end
end
