function q = ratio(num, den)
%RATIO  A rational number, at least 0, held exactly: whole numbers q.num and q.den.
%   q = halfmask.exact.ratio(x)         a double counts at its exact binary value: 0.1 is a little
%                                       more than one tenth (for that, see halfmask.exact.meant)
%   q = halfmask.exact.ratio(num, den)  of two integers, or of two whole numbers as rows of digits
%
%   Common factors are left in.
if nargin == 1 && isstruct(num)
    q = num;
elseif nargin == 1
    if ~(isnumeric(num) && isscalar(num) && isreal(num) && isfinite(num) && num >= 0)
        error('halfmask:number', 'number: no finite number of at least 0; give one such as 0.5');
    end
    if isinteger(num)
        q = struct('num', halfmask.exact.whole(num), 'den', halfmask.exact.whole(1));
        return
    end
    [fraction, exponent] = log2(double(num));
    q = struct('num', halfmask.exact.whole(fraction * 2 ^ 53), 'den', halfmask.exact.whole(1));
    if exponent >= 53
        q.num = halfmask.exact.move(q.num, exponent - 53);
    else
        q.den = halfmask.exact.move(q.den, 53 - exponent);
    end
else
    q = struct('num', num, 'den', den);
    if isscalar(num)
        q.num = halfmask.exact.whole(num);
    end
    if isscalar(den)
        q.den = halfmask.exact.whole(den);
    end
end
end
