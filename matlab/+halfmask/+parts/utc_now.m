function text = utc_now()
%UTC_NOW  The time in UTC as ISO text, with microseconds.
if exist('OCTAVE_VERSION', 'builtin')
    now_is = time();
    text = sprintf('%s.%06d+00:00', strftime('%Y-%m-%dT%H:%M:%S', gmtime(now_is)), ...
        floor(mod(now_is, 1) * 1e6));
else
    text = [char(datetime('now', 'TimeZone', 'UTC', ...
        'Format', 'yyyy-MM-dd''T''HH:mm:ss.SSSSSS')), '+00:00'];
end
end
