-- why: messages are kept for ever unless a setting says how long; then whole months are dropped.
create table message_retention (
  only_row boolean primary key default true check (only_row),
  -- messages with smaller ids are forgotten, or about to be: what is derived from them goes before they do
  kept_from text collate "C" not null
);
