function check(holds, format, varargin)
%CHECK  Fail with a message unless something holds.
if ~all(holds(:)) || isempty(holds)
    error('halfmask:test', format, varargin{:});
end
end
