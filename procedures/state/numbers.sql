-- The items of StateService, as numbers that are kept by counting: see procedures/README.md.
NUMBERS items procession_state_items, bytes procession_state_bytes, locks procession_state_locks
COUNTED AS
SELECT count(*), coalesce(sum(item.bytes), 0), coalesce(sum(item.locked), 0) FROM item;
KEPT BY
AFTER INSERT ON item: items 1, bytes coalesce(NEW.bytes, 0), locks NEW.locked;
AFTER UPDATE OF locked, bytes ON item: bytes coalesce(NEW.bytes, 0) - coalesce(OLD.bytes, 0), locks NEW.locked - OLD.locked;
AFTER DELETE ON item: items -1, bytes -coalesce(OLD.bytes, 0), locks -OLD.locked;
