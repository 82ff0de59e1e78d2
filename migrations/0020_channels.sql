-- why: whoever has a channel's link tried, or gives it other credentials, must not wait for the next probe of a circuit that another process keeps open.
alter table channels add column link_tried_at timestamptz;
