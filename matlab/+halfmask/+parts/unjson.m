function fields = unjson(text)
%UNJSON  Read a flat JSON object of integers, texts and null, integers exactly, as uint64.
%   (jsondecode turns integers into doubles, which hold 1e-12 of a budget only up to 9007.)
found = regexp(text, '"(\w+)":\s*(null|\d+|"(?:[^"\\]|\\["\\])*")', 'tokens');
fields = struct();
for i = 1:numel(found)
    value = found{i}{2};
    if value(1) == '"'
        value = regexprep(value(2:end - 1), '\\(["\\])', '$1');
    elseif strcmp(value, 'null')
        value = [];
    else
        value = integer(value);
    end
    fields.(found{i}{1}) = value;
end
end

function value = integer(digits)
value = uint64(0);
for digit = digits - '0'
    value = value * uint64(10) + uint64(digit);
end
end
