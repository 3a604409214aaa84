function text = promise(request)
%PROMISE  What was paid and who is protected, in words.
change = 'added or removed';
if strcmp(request.relation, 'replace')
    change = 'replaced';
end
text = sprintf('Price: %s for one row, %s.', request.cost, change);
if request.seeded
    text = [text ' NOT PRIVATE: the noise came from given words.'];
end
end
