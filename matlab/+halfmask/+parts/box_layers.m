function [parts, count] = box_layers(boxes, k)
%BOX_LAYERS  How many cells of box k are in the next box before column j and not at j, exactly.
%   parts, whole numbers for j = 1 .. d, and count, their sum: all cells of box k beside the next.
widths = boxes.high(k, :) - boxes.low(k, :) + 1;
kept = boxes.high(k + 1, :) - boxes.low(k + 1, :) + 1;
d = numel(widths);
after = cell(1, d);
after{d} = halfmask.exact.whole(1);
for j = d - 1:-1:1
    after{j} = halfmask.exact.multiply(after{j + 1}, halfmask.exact.whole(widths(j + 1)));
end
before = halfmask.exact.whole(1);
parts = cell(1, d);
count = halfmask.exact.whole(0);
for j = 1:d
    beside = halfmask.exact.multiply(before, halfmask.exact.whole(widths(j) - kept(j)));
    parts{j} = halfmask.exact.multiply(beside, after{j});
    count = halfmask.exact.add(count, parts{j});
    before = halfmask.exact.multiply(before, halfmask.exact.whole(kept(j)));
end
end
