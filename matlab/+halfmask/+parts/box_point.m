function cells = box_point(boxes, k, place)
%BOX_POINT  The cell at this place, 0, 1, ..., in a list of all cells of box k beside the next box.
parts = halfmask.parts.box_layers(boxes, k);
leaves = 1;  % the first column in which it is not in the next box
while halfmask.exact.compare(place, parts{leaves}) >= 0
    place = halfmask.exact.subtract(place, parts{leaves});
    leaves = leaves + 1;
end
low = boxes.low(k, :);
first = boxes.low(k + 1, :);
kept = boxes.high(k + 1, :) - first + 1;
widths = boxes.high(k, :) - low + 1;
widths(leaves) = widths(leaves) - kept(leaves);
widths(1:leaves - 1) = kept(1:leaves - 1);
cells = [first(1:leaves - 1), low(leaves:end)];
for j = 1:numel(cells)
    [place, offset] = halfmask.exact.divide(place, halfmask.exact.whole(widths(j)));
    cells(j) = cells(j) + halfmask.exact.number(offset);
end
if cells(leaves) >= first(leaves)
    cells(leaves) = cells(leaves) + kept(leaves);
end
end
