function [lower, upper] = bounds(lower, upper)
%BOUNDS  Bounds as doubles; refuse what are no finite numbers, lower below upper.
for bound = {lower, upper}
    if ~(isnumeric(bound{1}) && isscalar(bound{1}) && isreal(bound{1}) && abs(bound{1}) <= 1e290)
        error('halfmask:bounds', ['bounds: one is no finite number below 1e290; give numbers ' ...
            'that are known without the data']);
    end
end
lower = double(lower);
upper = double(upper);
if lower > upper
    error('halfmask:bounds', 'bounds: lower %.15g is above upper %.15g; swap them', lower, upper);
elseif lower == upper
    error('halfmask:bounds', ['bounds: lower and upper are both %.15g; every value would be ' ...
        'clipped to it, give an upper bound above the lower one'], lower);
end
end
