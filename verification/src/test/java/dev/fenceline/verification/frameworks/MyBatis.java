package dev.fenceline.verification.frameworks;

import java.util.function.Function;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactory;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.jspecify.annotations.Nullable;

/** MyBatis with sessions that the application commits. */
final class MyBatis implements Framework {

    /** The statements. */
    interface Accounts {

        @Select("SELECT balance FROM account WHERE id = #{id}")
        long balance(@Param("id") int id);

        @Update("UPDATE account SET balance = #{balance} WHERE id = #{id}")
        int update(@Param("id") int id, @Param("balance") long balance);

        @Select("SELECT 1 / 0")
        int fail();
    }

    private static final ThreadLocal<@Nullable SqlSession> OPEN = new ThreadLocal<>();

    private final SqlSessionFactory sessions;

    MyBatis(DataSource source) {
        Configuration configuration = new Configuration(new Environment("test", new JdbcTransactionFactory(), source));
        configuration.addMapper(Accounts.class);
        this.sessions = new SqlSessionFactoryBuilder().build(configuration);
    }

    @Override
    public <T> T transaction(Supplier<T> work) {
        try (SqlSession session = sessions.openSession()) {
            OPEN.set(session);
            T result = work.get();
            session.commit();
            return result;
        } finally {
            OPEN.remove();
        }
    }

    @Override
    public long read(int account) {
        return run(accounts -> accounts.balance(account));
    }

    @Override
    public void write(int account, long balance) {
        run(accounts -> accounts.update(account, balance));
    }

    @Override
    public void fail() {
        run(Accounts::fail);
    }

    /** Without a transaction each statement commits by itself. */
    private <T> T run(Function<Accounts, T> statement) {
        SqlSession session = OPEN.get();
        if (session != null) {
            return statement.apply(session.getMapper(Accounts.class));
        }
        try (SqlSession own = sessions.openSession(true)) {
            return statement.apply(own.getMapper(Accounts.class));
        }
    }

    @Override
    public void close() {}
}
