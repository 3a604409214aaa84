function [points, data] = both(points, data)
%BOTH  Points and data as doubles of one width, without NaN and infinity.
for given = {points, data}
    if ~(isnumeric(given{1}) && isreal(given{1}) && ndims(given{1}) == 2 ...
            && all(isfinite(given{1}(:))))
        error('halfmask:data', 'data: not all are finite numbers; leave out the rows that are not');
    end
end
if size(points, 2) ~= size(data, 2) || isempty(data)
    error('halfmask:data', 'data: points have %d columns and data %d; give as many, and a row', ...
        size(points, 2), size(data, 2));
end
points = double(full(points));
data = double(full(data));
end
