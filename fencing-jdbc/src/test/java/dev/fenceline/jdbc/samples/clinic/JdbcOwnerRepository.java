package dev.fenceline.jdbc.samples.clinic;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import javax.sql.DataSource;

/** Owners and their pets in plain JDBC: reads in auto-commit mode, a save in a transaction of its own. */
public class JdbcOwnerRepository implements OwnerRepository {

    private static final String SELECT = "SELECT id, first_name, last_name, city, telephone FROM owners";

    private final DataSource dataSource;

    public JdbcOwnerRepository(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    @Override
    public Owner findById(int ownerId) {
        try (Connection connection = dataSource.getConnection()) {
            List<Owner> owners;
            try (PreparedStatement statement = connection.prepareStatement(SELECT + " WHERE id = ?")) {
                statement.setInt(1, ownerId);
                owners = readOwners(statement);
            }
            if (owners.isEmpty()) {
                throw new DataAccessException("No owner with id " + ownerId);
            }
            Owner owner = owners.get(0);
            loadPets(connection, owner);
            return owner;
        } catch (SQLException e) {
            throw new DataAccessException("Cannot load owner " + ownerId, e);
        }
    }

    @Override
    public Collection<Owner> findByLastName(String lastName) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement(SELECT + " WHERE last_name LIKE ? ORDER BY id")) {
            statement.setString(1, lastName + "%");
            List<Owner> owners = readOwners(statement);
            for (Owner owner : owners) {
                loadPets(connection, owner);
            }
            return owners;
        } catch (SQLException e) {
            throw new DataAccessException("Cannot find owners named " + lastName, e);
        }
    }

    @Override
    public void save(Owner owner) {
        Connection connection = null;
        try {
            connection = dataSource.getConnection();
            connection.setAutoCommit(false);
            if (owner.isNew()) {
                insert(connection, owner);
            } else {
                update(connection, owner);
            }
            for (Pet pet : owner.getPets()) {
                savePet(connection, owner, pet);
            }
            connection.commit();
        } catch (SQLException e) {
            rollback(connection);
            throw new DataAccessException("Cannot save owner " + owner.getLastName(), e);
        } finally {
            close(connection);
        }
    }

    @Override
    public void delete(int ownerId) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.addBatch("DELETE FROM pets WHERE owner_id = " + ownerId);
            statement.addBatch("DELETE FROM owners WHERE id = " + ownerId);
            statement.executeBatch();
        } catch (SQLException e) {
            throw new DataAccessException("Cannot delete owner " + ownerId, e);
        }
    }

    private static List<Owner> readOwners(PreparedStatement statement) throws SQLException {
        List<Owner> owners = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                Owner owner = new Owner();
                owner.setId(rows.getInt("id"));
                owner.setFirstName(rows.getString("first_name"));
                owner.setLastName(rows.getString("last_name"));
                owner.setCity(rows.getString("city"));
                owner.setTelephone(rows.getString("telephone"));
                owners.add(owner);
            }
        }
        return owners;
    }

    private static void loadPets(Connection connection, Owner owner) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT id, name, birth_date FROM pets WHERE owner_id = ? ORDER BY id")) {
            statement.setInt(1, owner.getId());
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    Pet pet = new Pet(rows.getString("name"), rows.getObject("birth_date", LocalDate.class));
                    pet.setId(rows.getInt("id"));
                    owner.addPet(pet);
                }
            }
        }
    }

    private static void insert(Connection connection, Owner owner) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "INSERT INTO owners (first_name, last_name, city, telephone) VALUES (?, ?, ?, ?)",
                Statement.RETURN_GENERATED_KEYS)) {
            statement.setString(1, owner.getFirstName());
            statement.setString(2, owner.getLastName());
            statement.setString(3, owner.getCity());
            statement.setString(4, owner.getTelephone());
            statement.executeUpdate();
            try (ResultSet keys = statement.getGeneratedKeys()) {
                keys.next();
                owner.setId(keys.getInt("id"));
            }
        }
    }

    private static void update(Connection connection, Owner owner) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "UPDATE owners SET first_name = ?, last_name = ?, city = ?, telephone = ? WHERE id = ?")) {
            statement.setString(1, owner.getFirstName());
            statement.setString(2, owner.getLastName());
            statement.setString(3, owner.getCity());
            statement.setString(4, owner.getTelephone());
            statement.setInt(5, owner.getId());
            statement.executeUpdate();
        }
    }

    private static void savePet(Connection connection, Owner owner, Pet pet) throws SQLException {
        String sql = pet.isNew()
                ? "INSERT INTO pets (name, birth_date, owner_id) VALUES (?, ?, ?) RETURNING id"
                : "UPDATE pets SET name = ?, birth_date = ?, owner_id = ? WHERE id = ? RETURNING id";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, pet.getName());
            statement.setObject(2, pet.getBirthDate());
            statement.setInt(3, owner.getId());
            if (!pet.isNew()) {
                statement.setInt(4, pet.getId());
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                pet.setId(row.getInt(1));
            }
        }
    }

    private static void rollback(Connection connection) {
        if (connection != null) {
            try {
                connection.rollback();
            } catch (SQLException ignored) {
                // the first exception is the one that counts
            }
        }
    }

    private static void close(Connection connection) {
        if (connection != null) {
            try {
                connection.setAutoCommit(true);
                connection.close();
            } catch (SQLException ignored) {
                // nothing to be done about it
            }
        }
    }
}
