function text = written(number, spread)
%WRITTEN  A number for readers, thousands apart, with three figures of its uncertainty.
%   halfmask.parts.written(1234567, 1000) is '1 234 567'; without spread, all of a public number.
if nargin < 2
    text = sprintf('%.15g', number);
else
    decimals = 0;
    if spread > 0 && isfinite(spread)
        decimals = min(max(0, 2 - floor(log10(spread))), 15);
    end
    text = sprintf('%.*f', decimals, number);
end
if isempty(regexp(text, '[einN]', 'once'))
    halves = [strsplit(text, '.'), {''}];
    text = regexprep(halves{1}, '(\d)(?=(\d{3})+$)', '$1 ');
    if ~isempty(halves{2})
        text = [text '.' halves{2}];
    end
end
end
