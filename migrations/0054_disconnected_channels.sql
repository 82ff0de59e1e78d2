-- why: lost links are tried again every second, whatever the number of channels that stand.
create index channels_disconnected on channels (id) where connection_status = 'disconnected' and deleted_at is null;
