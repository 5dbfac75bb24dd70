VIEW dbo.Items (
    Id              varchar(512) NOT NULL,
    Locked          bit NOT NULL,
    LockCookie      int NOT NULL,
    LockTime        datetime,
    TimeoutMinutes  int NOT NULL,
    Expires         datetime NOT NULL,
    Bytes           bigint
)
SUMMARY The items with their locks and times; Bytes is the length of the data, NULL for NULL.
AS
SELECT item.id, item.locked <> 0, item.cookie, CASE WHEN item.locked <> 0 THEN item.lock_time END, item.timeout / 18000, max(item.expires, item.timeout + promise.lost),
       item.bytes
FROM promise CROSS JOIN item;
