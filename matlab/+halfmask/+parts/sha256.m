function digest = sha256(text, plain) %#ok<INUSD>
%SHA256  The SHA-256 of ASCII text in hexadecimal digits, without Java or toolboxes. [FIPS 180-4]
%   Octave has it built in, unless halfmask.parts.sha256(text, 'plain') asks for what MATLAB takes.
%   There, sums are taken in doubles, which hold them exactly, and brought back below 2^32.
if nargin < 2 && exist('OCTAVE_VERSION', 'builtin')
    digest = hash('sha256', text);
    return
end
bytes = [double(text), 128, zeros(1, mod(55 - numel(text), 64))];
bits = 8 * numel(text);
words = reshape(bytes, 4, [])' * [16777216; 65536; 256; 1];
words = reshape([words; floor(bits / 2 ^ 32); mod(bits, 2 ^ 32)], 16, []);
p = primes(311);
k = floor(mod(p .^ (1 / 3), 1) * 2 ^ 32);
h = floor(mod(sqrt(p(1:8)), 1) * 2 ^ 32);
for block = 1:size(words, 2)
    h = mod(h + mixed(h, expanded(words(:, block)), k), 2 ^ 32);
end
digest = lower(reshape(dec2hex(h, 8)', 1, []));
end

function w = expanded(w)
% The 64 words of a block.
for t = 17:64
    a = uint32(w(t - 15));
    b = uint32(w(t - 2));
    s0 = bitxor(bitxor(turned(a, 7), turned(a, 18)), bitshift(a, -3));
    s1 = bitxor(bitxor(turned(b, 17), turned(b, 19)), bitshift(b, -10));
    w(t) = mod(w(t - 16) + double(s0) + w(t - 7) + double(s1), 2 ^ 32);
end
end

function h = mixed(h, w, k)
% What the 64 rounds make of the state.
for t = 1:64
    a = uint32(h(1));
    e = uint32(h(5));
    s1 = bitxor(bitxor(turned(e, 6), turned(e, 11)), turned(e, 25));
    chosen = bitxor(bitand(e, uint32(h(6))), bitand(bitcmp(e), uint32(h(7))));
    first = h(8) + double(s1) + double(chosen) + k(t) + w(t);
    s0 = bitxor(bitxor(turned(a, 2), turned(a, 13)), turned(a, 22));
    most = bitxor(bitxor(bitand(a, uint32(h(2))), bitand(a, uint32(h(3)))), ...
        bitand(uint32(h(2)), uint32(h(3))));
    h = mod([first + double(s0) + double(most), h(1:3), h(4) + first, h(5:7)], 2 ^ 32);
end
end

function x = turned(x, places)
% Rotated to the right.
x = bitor(bitshift(x, -places), bitshift(x, 32 - places));
end
