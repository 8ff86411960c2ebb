<?php
// An application in PHP: "make" makes its tables by Doctrine's schema tool, "work" writes by PDO, PgSQL and Doctrine's ORM, and
// prints all that it is given: ids, counts, notices, errors.
require '/usr/share/php/Doctrine/ORM/autoload.php';
require '/usr/share/php/Doctrine/DBAL/autoload.php';

use Doctrine\DBAL\DriverManager;
use Doctrine\ORM\Configuration;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\Mapping\Driver\AttributeDriver;
use Doctrine\ORM\Proxy\ProxyFactory;
use Doctrine\ORM\Tools\SchemaTool;

#[ORM\Entity, ORM\Table(name: 'customer')]
class Customer
{
    #[ORM\Id, ORM\Column, ORM\GeneratedValue(strategy: 'IDENTITY')]
    public ?int $id = null;
    #[ORM\Column]
    public string $name;
    #[ORM\Version, ORM\Column(type: 'integer')]
    public int $version = 1;
    #[ORM\OneToMany(mappedBy: 'customer', targetEntity: Purchase::class, cascade: ['persist', 'remove'])]
    public $purchases;

    public function __construct(string $name)
    {
        $this->name = $name;
        $this->purchases = new Doctrine\Common\Collections\ArrayCollection();
    }
}

#[ORM\Entity, ORM\Table(name: 'purchase')]
class Purchase
{
    #[ORM\Id, ORM\Column(type: 'bigint'), ORM\GeneratedValue(strategy: 'IDENTITY')]
    public ?string $id = null;
    #[ORM\ManyToOne(inversedBy: 'purchases'), ORM\JoinColumn(nullable: false)]
    public Customer $customer;
    #[ORM\Column(type: 'decimal', precision: 10, scale: 2)]
    public string $total;
    #[ORM\ManyToMany(targetEntity: Tag::class)]
    public $tags;

    public function __construct(Customer $customer, string $total)
    {
        $this->customer = $customer;
        $this->total = $total;
        $this->tags = new Doctrine\Common\Collections\ArrayCollection();
        $customer->purchases->add($this);
    }
}

#[ORM\Entity, ORM\Table(name: 'tag')]
class Tag
{
    #[ORM\Id, ORM\Column, ORM\GeneratedValue(strategy: 'SEQUENCE')]
    public ?int $id = null;
    #[ORM\Column]
    public string $word;

    public function __construct(string $word) { $this->word = $word; }
}

function say(string $what, mixed ...$values): void { echo $what, ': ', json_encode($values), "\n"; }

// What a call returns, or the state of the error that it throws.
function outcome(callable $call): mixed
{
    try {
        return $call();
    } catch (PDOException $e) {
        return $e->getCode();
    } catch (Throwable $e) {
        return get_class($e) . ' ' . strtok($e->getMessage(), "\n");
    }
}

function manager(string $driver): EntityManager
{
    $setup = new Configuration();
    $setup->setMetadataDriverImpl(new AttributeDriver([]));
    $setup->setProxyDir(sys_get_temp_dir());
    $setup->setProxyNamespace('Proxy');
    $setup->setAutoGenerateProxyClasses(ProxyFactory::AUTOGENERATE_EVAL);
    // As deploy/NEIGHBOURS.md says.
    $setup->setSchemaAssetsFilter(
        fn ($name) => !str_starts_with(is_string($name) ? $name : $name->getName(), 'rowrelay'));
    return new EntityManager(DriverManager::getConnection(['driver' => $driver, 'host' => getenv('PGHOST'),
        'port' => getenv('PGPORT'), 'user' => getenv('PGUSER'), 'dbname' => getenv('PGDATABASE')], $setup), $setup);
}

function entities(EntityManager $manager): array
{
    return array_map(fn ($class) => $manager->getClassMetadata($class), [Customer::class, Purchase::class, Tag::class]);
}

function pdo(): PDO
{
    return new PDO(sprintf('pgsql:host=%s;port=%s;dbname=%s;user=%s', getenv('PGHOST'), getenv('PGPORT'),
        getenv('PGDATABASE'), getenv('PGUSER')), null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
}

function work_by_pdo(): void
{
    $pdo = pdo();
    // The sequence is the row's, the table's of another insert, or undefined.
    $insert = $pdo->prepare('insert into customer (name, version) values (?, 1)');
    foreach (['Ann', "Bob's", 'Ünï'] as $name) {
        $insert->execute([$name]);
        say('inserted', $insert->rowCount(), $pdo->lastInsertId(), $pdo->lastInsertId('customer_id_seq'));
    }
    $customer = $pdo->lastInsertId();
    $pdo->beginTransaction();
    $pdo->exec("insert into purchase (customer_id, total) values ($customer, 1.5), ($customer, 2.5)");
    say('two rows', $pdo->lastInsertId());
    say('updated', $pdo->exec("update customer set name = name || '!' where id = $customer"), $pdo->lastInsertId());
    say('key changed', $pdo->exec("update purchase set id = id + 100000 where total = 1.5 and id < 100000"),
        $pdo->lastInsertId());
    $pdo->exec('savepoint a');
    say('refused', outcome(fn () => $pdo->exec('insert into purchase (customer_id, total) values (-1, 1)')));
    $pdo->exec('rollback to a');
    say('after the savepoint', $pdo->lastInsertId());
    $pdo->exec("insert into customer (id, name, version) select 500000 + count(*), 'given', 1 from customer");
    say('an id of its own', $pdo->lastInsertId());
    say('deleted', $pdo->exec('delete from purchase where id > 100000'), $pdo->lastInsertId());
    $pdo->commit();
    $pdo->beginTransaction();
    $pdo->exec("insert into customer (name, version) values ('never', 1)");
    $pdo->rollBack();
    say('after rollback', $pdo->lastInsertId());
    $pdo->pgsqlCopyFromArray('customer', ["copied\t1"], "\t", '\\\\N', 'name, version');
    say('copied', $pdo->lastInsertId());
    $pdo->exec('create temporary table draft (id serial, word text)');
    $pdo->exec("insert into draft (word) values ('a'), ('b')");
    $pdo->exec("update customer set name = 'draft' where id = $customer");
    say('of a temporary table', $pdo->lastInsertId());
    say('notice', $pdo->query("select current_setting('search_path'), current_setting('timezone'), current_setting('datestyle')")
        ->fetch(PDO::FETCH_NUM));
    $pdo->exec('discard all');
    say('discarded', outcome(fn () => $pdo->lastInsertId()));
    $pdo->exec("insert into customer (name, version) values ('last', 1)");
    say('after discard', $pdo->lastInsertId());
}

// A procedure of the application, and the other driver, whose notices and results are read.
function work_by_pgsql(): void
{
    $c = pg_connect(sprintf('host=%s port=%s dbname=%s user=%s', getenv('PGHOST'), getenv('PGPORT'), getenv('PGDATABASE'),
        getenv('PGUSER')));
    pg_query($c, 'create or replace function buy(who text) returns bigint language plpgsql as $$
        declare buyer bigint; rows int;
        begin
          insert into customer (name, version) values (who, 1);
          get diagnostics rows = row_count;
          buyer := lastval();
          insert into purchase (customer_id, total) values (buyer, 7) ;
          raise notice \'% % %\', rows, found, lastval();
          return lastval() - currval(\'purchase_id_seq\');
        end $$');
    say('procedure', pg_fetch_row(pg_query($c, "select buy('Eve')")), pg_last_notice($c, PGSQL_NOTICE_ALL));
    pg_prepare($c, 'p', 'with c as (insert into customer (name, version) values ($1, 1) returning id)
        insert into purchase (customer_id, total) select id, 3 from c where false');
    say('refused by its key', pg_affected_rows(pg_execute($c, 'p', ['with'])));
    say('lastval', pg_fetch_row(pg_query($c, 'select lastval() - max(id) from customer')));
    say('transaction ids', pg_fetch_row(pg_query($c, 'select pg_current_xact_id_if_assigned()')));
    say('notices', pg_last_notice($c, PGSQL_NOTICE_ALL));
}

function work_by_doctrine(string $driver): void
{
    $manager = manager($driver);
    $tool = new SchemaTool($manager);
    say($driver . ' schema tool', $tool->getUpdateSchemaSql(entities($manager), true));
    for ($n = 1; $n <= 3; ++$n) {
        $customer = new Customer("$driver $n");
        $first = new Purchase($customer, '10.50');
        new Purchase($customer, '11.50');
        foreach (['red', 'blue'] as $word) {
            $manager->persist($tag = new Tag($word));
            $first->tags->add($tag);
        }
        $manager->persist($customer);
        $manager->flush();
        say('kept', $customer->id, $customer->purchases->map(fn ($p) => $p->id)->toArray(), $customer->version);
        $customer->name .= ' renamed';
        $manager->flush();
        say('version', $customer->version);
    }
    $customer->purchases[0]->tags->clear();
    $manager->flush();
    $manager->wrapInTransaction(function ($m) use ($customer) { $m->remove($customer); });
    say('stale', outcome(function () use ($manager) {
        $stale = $manager->find(Customer::class, $manager->getConnection()->lastInsertId('customer_id_seq') - 1);
        $manager->getConnection()->executeStatement('update customer set version = version + 1 where id = ?', [$stale->id]);
        $stale->name = 'lost update';
        $manager->flush();
    }));
    $rows = $manager->getConnection()->fetchAllNumeric('select c.id, c.name, p.id, p.total, count(t.tag_id) from customer c
        left join purchase p on p.customer_id = c.id left join purchase_tag t on t.purchase_id = p.id group by 1, 2, 3, 4 order by 1, 3');
    say('rows', $rows);
}

switch ($argv[1]) {
    case 'make':
        $manager = manager('pdo_pgsql');
        (new SchemaTool($manager))->createSchema(entities($manager));
        break;
    case 'work':
        work_by_pdo();
        work_by_pgsql();
        work_by_doctrine('pdo_pgsql');
        work_by_doctrine('pgsql');
        break;
}
