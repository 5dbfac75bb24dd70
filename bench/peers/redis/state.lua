#!lua name=state
-- The StateService procedures that the benchmark calls, as Redis functions of the same effect. An item is a hash; Redis' own
-- expiration takes the place of the column and of the sweep. Answers: nil when there is no such item.

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end

-- proc_AddItem(@id, @timeout in minutes, @item)
local function add_item(keys, args)
  if redis.call('EXISTS', keys[1]) == 1 then
    return redis.error_reply('An item with this identifier exists already.')
  end
  local lifetime = args[1] * 60000
  redis.call('HSET', keys[1], 'item', args[2], 'cookie', 1, 'locked', 0, 'lock_time', 0, 'lifetime', lifetime)
  redis.call('PEXPIREAT', keys[1], now_ms() + lifetime)
  return 1
end

-- proc_GetItemWithLock(@id): { item or nil, locked before, lock age in seconds, cookie }
local function get_item_with_lock(keys)
  local f = redis.call('HMGET', keys[1], 'locked', 'cookie', 'lock_time', 'lifetime')
  if not f[1] then
    return nil
  end
  local now, cookie = now_ms(), tonumber(f[2])
  redis.call('PEXPIREAT', keys[1], now + f[4])
  if f[1] == '1' then
    return { false, 1, math.floor((now - f[3]) / 1000), cookie }
  end
  cookie = cookie == 2147483647 and 1 or cookie + 1
  redis.call('HSET', keys[1], 'locked', 1, 'cookie', cookie, 'lock_time', now)
  return { redis.call('HGET', keys[1], 'item'), 0, 0, cookie }
end

-- proc_GetItemWithoutLock(@id): the same, and leaves the lock as it is
local function get_item_without_lock(keys)
  local f = redis.call('HMGET', keys[1], 'locked', 'cookie', 'lock_time', 'lifetime', 'item')
  if not f[1] then
    return nil
  end
  local now = now_ms()
  redis.call('PEXPIREAT', keys[1], now + f[4])
  if f[1] == '1' then
    return { false, 1, math.floor((now - f[3]) / 1000), tonumber(f[2]) }
  end
  return { f[5], 0, 0, tonumber(f[2]) }
end

-- proc_UpdateItem(@id, @lockCookie, @timeout, @item): 1 when the cookie matched
local function update_item(keys, args)
  if tonumber(redis.call('HGET', keys[1], 'cookie')) ~= tonumber(args[1]) then
    return 0
  end
  local lifetime = args[2] * 60000
  redis.call('HSET', keys[1], 'item', args[3], 'locked', 0, 'lifetime', lifetime)
  redis.call('PEXPIREAT', keys[1], now_ms() + lifetime)
  return 1
end

redis.register_function('add_item', add_item)
redis.register_function('get_item_with_lock', get_item_with_lock)
redis.register_function('get_item_without_lock', get_item_without_lock)
redis.register_function('update_item', update_item)
