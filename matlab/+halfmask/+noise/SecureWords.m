classdef SecureWords < handle
%SECUREWORDS  Uniform random 64-bit words that nobody can draw again.
%   w = halfmask.noise.SecureWords();  w.take(3)   three words, a uint64 column
%
%   They come from the operating system's random device, /dev/urandom; where there is none (Windows)
%   from Java's SecureRandom; where there is neither, an error says so. rand() is never used: who
%   sees some of its output knows the rest.
    properties (Constant)
        seeded = false
    end
    methods
        function words = take(~, count)
            file = fopen('/dev/urandom', 'r');
            if file >= 0
                words = fread(file, count, '*uint64');
                fclose(file);
            else
                words = from_java(count);
            end
            if numel(words) ~= count
                error('halfmask:words', ['words: the random device gave too few; ' ...
                    'check the operating system, nothing was released']);
            end
        end
    end
end

function words = from_java(count)
% The digits of a random BigInteger: arrays that Java fills in place do not come back to MATLAB. The
% bit on top is set, so that no leading byte is dropped; it is cut off again.
try
    number = javaObject('java.math.BigInteger', 64 * count, ...
        javaObject('java.security.SecureRandom'));
    bytes = javaMethod('toByteArray', javaMethod('setBit', number, 64 * count));
catch
    error('halfmask:words', ['words: neither /dev/urandom nor Java''s SecureRandom is here; ' ...
        'run where one of them is, there is no safe noise without']);
end
bytes = typecast(int8(bytes(:)), 'uint8');
words = typecast(bytes(end - 8 * count + 1:end), 'uint64');
end
