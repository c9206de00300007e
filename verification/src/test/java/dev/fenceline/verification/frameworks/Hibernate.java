package dev.fenceline.verification.frameworks;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.EntityTransaction;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceUnitTransactionType;
import jakarta.persistence.Table;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.hibernate.cfg.JdbcSettings;
import org.hibernate.jpa.HibernatePersistenceConfiguration;
import org.jspecify.annotations.Nullable;

/** JPA through Hibernate alone, with transactions of the EntityManager. */
final class Hibernate implements Framework {

    /** A row. */
    @Entity(name = "Account")
    @Table(name = "account")
    static class Account {

        @Id
        int id;

        long balance;
    }

    private static final ThreadLocal<@Nullable EntityManager> OPEN = new ThreadLocal<>();

    private final EntityManagerFactory factory;

    Hibernate(DataSource source, Map<String, String> settings) {
        HibernatePersistenceConfiguration configuration = new HibernatePersistenceConfiguration("accounts");
        configuration.managedClass(Account.class);
        configuration.transactionType(PersistenceUnitTransactionType.RESOURCE_LOCAL);
        configuration.property(JdbcSettings.JAKARTA_NON_JTA_DATASOURCE, source);
        settings.forEach(configuration::property);
        this.factory = configuration.createEntityManagerFactory();
    }

    @Override
    public <T> T transaction(Supplier<T> work) {
        try (EntityManager entities = factory.createEntityManager()) {
            EntityTransaction transaction = entities.getTransaction();
            transaction.begin();
            try {
                T result = in(entities, work);
                transaction.commit();
                return result;
            } finally {
                if (transaction.isActive()) {
                    transaction.rollback();
                }
            }
        }
    }

    private static <T> T in(EntityManager entities, Supplier<T> work) {
        OPEN.set(entities);
        try {
            return work.get();
        } finally {
            OPEN.remove();
        }
    }

    @Override
    public long read(int account) {
        return run(entities -> entities.find(Account.class, account).balance);
    }

    @Override
    public void write(int account, long balance) {
        run(entities -> entities.find(Account.class, account).balance = balance);
    }

    @Override
    public void fail() {
        run(entities -> entities.createNativeQuery("SELECT 1 / 0").getResultList());
    }

    private <T> T run(Function<EntityManager, T> work) {
        EntityManager entities = OPEN.get();
        if (entities != null) {
            return work.apply(entities);
        }
        try (EntityManager own = factory.createEntityManager()) {
            return work.apply(own);
        }
    }

    @Override
    public void close() {
        factory.close();
    }
}
