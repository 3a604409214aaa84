function result = median(varargin)
%MEDIAN  The median of a bounded column, chosen privately: half of the values lie below.
%   r = halfmask.median(x, lower, upper, 'epsilon', 0.5)         of a vector
%   r = halfmask.median(T, 'pay', lower, upper, 'epsilon', 0.5)  of a column of a table (or struct)
%
%   The same as halfmask.quantile with q = 0.5, whose help says more.
%
%   Privacy: epsilon-DP, as for halfmask.quantile. [McSherry & Talwar 2007, Thm 6]
%
%   Example
%       r = halfmask.median(100 * rand(1, 1000), 0, 1000, 'epsilon', 1);
%       disp(r.statement)
%
%   See also halfmask.quantile, halfmask.mean
at = 1 + (nargin > 0 && (isa(varargin{1}, 'table') || isstruct(varargin{1})));
result = halfmask.quantile(varargin{1:min(at, nargin)}, 0.5, varargin{at + 1:end});
end
