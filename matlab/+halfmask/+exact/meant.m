function [q, text] = meant(value, name)
%MEANT  The exact fraction that a person meant: 0.1 is one tenth, '1/3' a third.
%   [q, text] = halfmask.exact.meant(value, name) gives the ratio and how it is written. A double
%   stands for the shortest decimal that reads back as the same double. It must lie between 1e-12
%   and 1e6: outside there is nothing to pay, or no privacy left. name is for the message.
if isa(value, 'string')
    value = char(value);
end
if ischar(value) && size(value, 1) == 1
    text = strtrim(value);
elseif isnumeric(value) && isscalar(value) && isreal(value)
    text = shortest(double(value));
else
    text = '';
end
q = parsed(text);
if isempty(q)
    error('halfmask:price', ...
        '%s: must be a number above 0, given %s; give one such as 0.5 or ''1/3''', name, text);
end
if halfmask.exact.compare(halfmask.exact.multiply(q.num, halfmask.exact.whole(1e12)), q.den) < 0
    error('halfmask:price', ...
        '%s: must be at least 1e-12, given %s; give a larger number', name, text);
end
if halfmask.exact.compare(q.num, halfmask.exact.multiply(q.den, halfmask.exact.whole(1e6))) > 0
    error('halfmask:price', '%s: must be at most 1e6, given %s; give a smaller number', name, text);
end
end

function text = shortest(x)
% The shortest decimal that reads back as the same double.
for digits = 15:17
    text = sprintf('%.*g', digits, x);
    if str2double(text) == x
        return
    end
end
end

function q = parsed(text)
% The ratio that a decimal or a fraction p/q says; [] where it says none.
q = [];
if ~isempty(regexp(text, '^\d{1,30}/0*[1-9]\d{0,30}$', 'once'))
    parts = strsplit(text, '/');
    q = struct('num', decimal(parts{1}), 'den', decimal(parts{2}));
elseif ~isempty(regexp(text, '^\d{1,30}(\.\d{1,30})?([eE][-+]?\d{1,2})?$', 'once'))
    parts = [strsplit(lower(text), 'e'), {'0'}];
    digits = [strsplit(parts{1}, '.'), {''}];
    exponent = str2double(parts{2}) - numel(digits{2});
    power = decimal(['1', repmat('0', 1, abs(exponent))]);
    q = struct('num', decimal([digits{1:2}]), 'den', halfmask.exact.whole(1));
    if exponent >= 0
        q.num = halfmask.exact.multiply(q.num, power);
    else
        q.den = power;
    end
end
end

function a = decimal(text)
% A whole number from its decimal digits.
a = halfmask.exact.whole(0);
ten = halfmask.exact.whole(10);
for digit = text - '0'
    a = halfmask.exact.add(halfmask.exact.multiply(a, ten), halfmask.exact.whole(digit));
end
end
