function refused(call, identifier, words)
%REFUSED  Fail unless a call fails with an identifier that starts so and a message with these words.
try
    call();
catch problem
    fits = strncmp(problem.identifier, identifier, numel(identifier)) ...
        && (isempty(words) || ~isempty(strfind(problem.message, words)));
    check(fits, '%s: [%s] %s', func2str(call), problem.identifier, problem.message);
    return
end
check(false, '%s: was not refused', func2str(call));
end
