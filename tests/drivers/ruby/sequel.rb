# Sequel over Ruby's ODBC: datasets, pages, transactions, procedures, what it asks about tables.
require "json"
require "odbc"
require "sequel"

attributes = (ENV["PT_ODBC"] + ";UID=#{ENV["PT_USER"]};PWD=#{ENV["PT_PASSWORD"]}")
DB = Sequel.odbc(drvconnect: attributes, db_type: "mssql")
ITEMS = DB[:Items]
@counter = 0

def key(name) = "#{name}-#{ENV["PT_PREFIX"]}-rb-#{@counter += 1}"
def expect(seen, wanted) = (seen == wanted or raise "#{seen.inspect} instead of #{wanted.inspect}")
def add(id) = DB.run("EXEC proc_AddItem '#{id}', 0x616263, 20")
def there(id) = ITEMS.where(Id: id).count

def some(count)
  prefix = key("page")
  count.times { |i| add("#{prefix}-#{10 + i}") }
  prefix
end

def endings(set) = set.map { |row| row[:id][-2..] }

PARTS = {
  connect: lambda {
    expect(DB.get(Sequel.lit("DB_NAME()")), "StateService")
    expect(DB.server_version > 15_000_000, true)
  },
  pages: lambda {
    mine = ITEMS.where(Sequel.like(:Id, "#{some(12)}-%")).order(:Id)
    expect(endings(mine.select(:Id).limit(2, 5)), %w[15 16])
    expect(mine.select(:Id).extension(:pagination).each_page(5).map { |page| page.all.length }, [5, 5, 2])
    expect(endings(DB[:x].with(:x, mine.unordered.select(:Id)).order(:Id).limit(1)), %w[10])
    row = mine.select(:Id, :Bytes, :Locked, :Expires, :LockTime).first
    expect([row[:bytes], row[:locked], row[:locktime], row[:expires].class], [3, false, nil, Time])
  },
  conditions: lambda {
    prefix = some(3)
    expect(ITEMS.where(Id: ["#{prefix}-10", "#{prefix}-12", "none"]).count, 2)
    expect(ITEMS.where(Sequel.like(:Id, "#{prefix}-%")).group_and_count(:Locked).all, [{ locked: false, count: 3 }])
    expect(ITEMS.where(Id: "#{prefix}-10").select(:Id).union(ITEMS.where(Id: "#{prefix}-11").select(:Id)).count, 2)
  },
  transactions: lambda {
    a, b, c = key("a"), key("b"), key("c")
    DB.transaction(rollback: :always) { add(a); expect(there(a), 1) }
    expect(there(a), 0)
    DB.transaction do
      add(b)
      DB.transaction(savepoint: true, rollback: :always) { add(c) }
    end
    expect([there(b), there(c)], [1, 0])
    DB.transaction(isolation: :serializable) { expect(there(b), 1) }
  },
  procedures: lambda {
    id = key("p")
    add(id)
    begin
      add(id)
      raise "no error"
    rescue Sequel::DatabaseError => e
      expect(e.message.include?("PRIMARY KEY"), true)
    end
    row = DB.fetch("DECLARE @i varbinary(max), @l bit, @a int, @c int EXEC proc_GetItemWithLock ?, @i OUTPUT, @l OUTPUT, @a OUTPUT, @c OUTPUT " \
                   "SELECT DATALENGTH(@i) AS n, @c AS cookie", id).first
    expect(row, { n: 3, cookie: 2 })
  },
  metadata: lambda {
    expect(DB.tables, [])
    expect(DB.views, [:items])
    columns = DB.schema(:Items)
    expect([columns.length, columns[0][0], columns[0][1][:max_length]], [7, :id, 512])
    expect([DB.indexes(:Items), DB.foreign_key_list(:Items), DB.table_exists?(:Nothing)], [{}, [], false])
  }
}.freeze

PARTS.each do |name, part|
  note = begin
    part.call
    ""
  rescue StandardError => e
    "#{e.class}: #{e.message}"
  end
  puts JSON.generate({ feature: name, ok: note.empty?, note: note })
end
