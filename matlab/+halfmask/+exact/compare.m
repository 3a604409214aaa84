function sign_of = compare(a, b)
%COMPARE  -1, 0 or 1 as the whole number a is below, equal to or above b.
sign_of = sign(numel(a) - numel(b));
if sign_of == 0
    differs = find(a ~= b, 1, 'last');
    if ~isempty(differs)
        sign_of = sign(a(differs) - b(differs));
    end
end
end
