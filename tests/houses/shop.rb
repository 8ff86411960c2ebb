# An application in Ruby: "make" makes its tables by migrations, "work" writes by pg and ActiveRecord, migrates, and prints all that it
# is given: ids, counts, notices, errors.
require 'pg'
require 'active_record'
require 'stringio'
require 'tmpdir'

$stdout.sync = true
Notices = []

def say(what, *values)
  puts "#{what}: #{values.inspect}"
end

class Customer < ActiveRecord::Base
  has_many :orders, dependent: :destroy
end

class Order < ActiveRecord::Base
  belongs_to :customer, counter_cache: true, touch: :seen_at
end

class Make < ActiveRecord::Migration[6.1]
  def change
    create_table :customers do |t|
      t.string :name, null: false, index: { unique: true }
      t.integer :lock_version, default: 0
      t.integer :orders_count, default: 0
      t.datetime :seen_at
    end
    create_table :orders do |t|
      t.references :customer, foreign_key: true
      t.jsonb :note
      t.string :tags, array: true, default: []
      t.decimal :total, precision: 12, scale: 2
    end
  end
end

class Later < ActiveRecord::Migration[6.1]
  def initialize(number)
    super()
    @number = number
  end

  def change
    add_column :orders, "extra#{@number}", :integer, default: 3, null: false
    add_index :orders, "extra#{@number}"
    change_column_null :orders, :total, true
    reversible { |way| way.up { Order.reset_column_information; Order.update_all("extra#{@number}" => 4) } }
  end
end

def work_by_pg
  c = PG.connect(dbname: ENV['PGDATABASE'])
  c.set_notice_processor { |n| Notices << n }
  c.prepare('insert', 'insert into customers (name) values ($1)')
  stamp = c.exec('select count(*) from customers').getvalue(0, 0)
  3.times do |n|
    r = c.exec_prepared('insert', ["pg #{stamp} #{n}"])
    say 'inserted', r.cmd_status, r.cmd_tuples, r.oid_value, c.exec('select lastval()').getvalue(0, 0)
  end
  id = c.exec('select lastval()').getvalue(0, 0)
  c.transaction do
    c.exec_params('insert into orders (customer_id, total) select $1, n from generate_series(1, 10) n', [id])
    say 'updated', c.exec('update orders set total = total * 2 where total < 5').cmd_status,
        c.exec('delete from orders where total > 9').cmd_status, c.exec('select lastval() - max(id) from orders').values
    c.exec('savepoint a')
    begin
      c.exec('insert into orders (customer_id) values (-1)')
    rescue PG::Error => e
      say 'refused', e.result.error_field(PG::PG_DIAG_SQLSTATE), e.result.error_field(PG::PG_DIAG_CONTEXT), e.message.lines.first
    end
    c.exec('rollback to a')
  end
  c.copy_data('copy orders (customer_id, total) from stdin') { 20.times { |n| c.put_copy_data("#{id}\t#{n}\n") } }
  c.enter_pipeline_mode
  5.times { |n| c.send_query_params('insert into orders (customer_id, total) values ($1, $2) returning lastval() - id', [id, n]) }
  c.pipeline_sync
  seen = []
  while (r = c.get_result || c.get_result)
    break if r.result_status == PG::PGRES_PIPELINE_SYNC
    seen << [r.cmd_status, r.values]
  end
  c.exit_pipeline_mode
  say 'pipeline', seen
  c.exec('listen shop')
  c.exec("delete from orders where total = 0; notify shop, 'x'")
  say 'heard', c.notifies&.slice(:relname, :extra), c.notifies
  say 'settings', %w[TimeZone DateStyle IntervalStyle].map { |p| c.parameter_status(p) },
      c.exec("select name, source from pg_settings where name in ('search_path', 'TimeZone', 'session_replication_role')").values
  c.close
end

def work_by_active_record(number)
  3.times do |n|
    customer = Customer.create!(name: "record #{number} #{n}")
    orders = 3.times.map { |m| customer.orders.create!(note: { m: m }, tags: ['a', "b,#{m}"], total: m) }
    say 'kept', customer.id, orders.map(&:id), customer.reload.orders_count, customer.lock_version
    orders.last.destroy
    stale = Customer.find(customer.id)
    customer.reload.update!(name: customer.name + '!')
    begin
      stale.update!(name: 'lost update')
    rescue ActiveRecord::StaleObjectError => e
      say 'stale', e.message
    end
  end
  begin
    Customer.transaction do
      Customer.create!(name: "twice #{number}")
      Customer.transaction(requires_new: true) { Customer.create!(name: "twice #{number}") }
    end
  rescue ActiveRecord::RecordNotUnique => e
    say 'twice', e.message.lines.first
  end
  say 'all', Order.insert_all([{ total: 1 }, { total: 2 }]).rows, Order.where(total: 1).update_all('total = total + 100'),
      Order.upsert_all([{ id: 1, total: 7 }, { id: -number, total: 8 }]).rows, Order.where(total: 101).delete_all
  Customer.last.with_lock { |c| Customer.last.update!(seen_at: Time.at(0)) }
  say 'destroyed', Customer.where("name like 'record #{number}%'").first.destroy.id
  ActiveRecord::Migration.verbose = false
  Later.new(number).migrate(:up)
  say 'tables', ActiveRecord::Base.connection.tables.sort, ActiveRecord::Base.connection.data_sources.sort
  dump = StringIO.new
  ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, dump)
  puts dump.string
end

# structure.sql of the default schema, as deploy/NEIGHBOURS.md says.
def dump_structure
  ActiveRecord::Base.dump_schemas = 'public'
  Dir.mktmpdir do |dir|
    config = ActiveRecord::Base.connection_db_config
    ActiveRecord::Tasks::PostgreSQLDatabaseTasks.new(config).structure_dump("#{dir}/structure.sql", nil)
    structure = File.read("#{dir}/structure.sql")
    say 'structure', structure.scan(/^(?:CREATE|ALTER) .*/).reject { |line| line =~ /!rowrelay/ }, structure.lines.count { |l| l =~ /SCHEMA/ }
  end
end

ActiveRecord::Base.establish_connection(adapter: 'postgresql', database: ENV['PGDATABASE'], username: ENV['PGUSER'],
                                        min_messages: 'notice')
if ARGV[0] == 'make'
  ActiveRecord::Migration.verbose = false
  Make.new.migrate(:up)
else
  number = 1 + Order.column_names.count { |name| name.start_with?('extra') }
  work_by_pg
  work_by_active_record(number)
  dump_structure
  say 'notices', Notices
end
