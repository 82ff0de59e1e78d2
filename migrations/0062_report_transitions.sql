-- why: what a receipt says of its message is called a transition, as everywhere; receipts that are kept and not applied yet come along.
update provider_reports set report = (report::jsonb - 'move' || jsonb_build_object('transition', report::jsonb -> 'move'))::json
where report ->> 'kind' = 'receipt' and report::jsonb ? 'move';
