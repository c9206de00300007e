package dev.fenceline.examples.springboot;

import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.jdbc.PostgresFence;
import dev.fenceline.lock.RedisLocks;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** The locks, the fence, and two data sources: the pool, for the fence alone, and the fenced one, for everybody else. */
@Configuration(proxyBeanMethods = false)
class FenceConfiguration {

    // snippet: spring-wiring
    @Bean
    Locks locks(@Value("${fenceline.redis}") String redis, @Value("${fenceline.lease:10s}") Duration lease) {
        return RedisLocks.connect(redis, LockOptions.builder().lease(lease).build()); // closed with the context
    }

    @Bean(defaultCandidate = false) // nobody gets the pool itself by its type
    @ConfigurationProperties("spring.datasource.hikari")
    HikariDataSource pool(DataSourceProperties settings) {
        return settings.initializeDataSourceBuilder()
                .type(HikariDataSource.class)
                .build();
    }

    @Bean
    PostgresFence fence(@Qualifier("pool") DataSource pool) {
        return PostgresFence.on(pool);
    }

    @Bean
    @Primary
    DataSource dataSource(PostgresFence fence) {
        return fence.dataSource(); // JPA, JdbcTemplate and the transaction manager are built on this one
    }
    // end snippet
}
