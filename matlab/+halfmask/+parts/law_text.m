function text = law_text(mechanism, step)
%LAW_TEXT  The law of the noise in words, its scale in units of which a grid step is worth `step`.
if mechanism.width == 0
    text = 'no noise: no row can change this statistic';
else
    text = sprintf('discrete Laplace, scale %.6g', mechanism.width * step);
end
end
