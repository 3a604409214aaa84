classdef TapeWords < handle
%TAPEWORDS  A recorded tape of words, for tests and simulations: noise from it protects nobody.
%   w = halfmask.noise.TapeWords(words) gives the words (uint64) in order; it is an error to read
%   beyond the last. The same tape gives the same samples here and in Python.
%
%   w.position is the number of words read so far.
    properties (Constant)
        seeded = true
    end
    properties (SetAccess = private)
        position = 0
    end
    properties (Access = private)
        tape
    end
    methods
        function self = TapeWords(tape)
            if ~isa(tape, 'uint64')
                error('halfmask:words', 'words: a tape of class %s; give uint64 words', ...
                    class(tape));
            end
            self.tape = tape(:);
        end

        function words = take(self, count)
            if self.position + count > numel(self.tape)
                error('halfmask:words', ['words: the tape ends after %d words, and more were ' ...
                    'needed; record a longer one'], numel(self.tape));
            end
            words = self.tape(self.position + 1:self.position + count);
            self.position = self.position + count;
        end
    end
end
