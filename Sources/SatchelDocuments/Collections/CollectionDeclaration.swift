import SatchelCore
import SatchelJSON
import SatchelSync
import SatchelStorage

/// An index on a field of the documents.
public struct RecordIndex: Equatable, Sendable {
  /// "a.b" or a JSON Pointer.
  public var path: String
  /// Whether two records must not have the same value. Null and missing values do not count.
  public var isUnique: Bool

  public init(_ path: String, unique: Bool = false) {
    self.path = path
    isUnique = unique
  }
}

/// A relation: a field with the id, or an array of ids, of records of a collection.
public struct RecordRelation: Equatable, Sendable {
  /// The action on a record when the record that it refers to is deleted.
  public enum OnDelete: String, Sendable, CaseIterable {
    /// The referenced record cannot be deleted while this one refers to it.
    case restrict
    /// This record is deleted, too.
    case cascade
    /// The field becomes null; from an array the id is removed.
    case nullify
  }

  /// The referenced collection; may be the relation's own.
  public var collection: String
  public var onDelete: OnDelete
  /// Whether the field is an array of ids.
  public var isMany: Bool

  public init(_ collection: String, onDelete: OnDelete = .restrict, many: Bool = false) {
    self.collection = collection
    self.onDelete = onDelete
    isMany = many
  }
}

/// The declaration of a collection when it is opened. It adds indexes, relations and a schema to those in the
/// store, and removes none, except with `redeclare`. A declaration with only a name opens the collection as
/// it is.
public struct CollectionDeclaration: Sendable {
  /// [a-z][a-z0-9_]{0,63}
  public var name: String
  public var indexes: [RecordIndex]?
  /// By path.
  public var relations: [String: RecordRelation]?
  /// The paths of fields that are stored encrypted, "a.b" or JSON Pointers. They cannot be indexed, queried or
  /// sorted by. See `StateStore.setKey`.
  public var sensitive: [String]?
  /// The JSON Schema (2020-12) that documents must satisfy when they are written.
  public var schema: JSONValue?
  /// The version of the documents; 1 when nil.
  public var version: Int?
  /// The migrations of documents from version 1 to 2, from 2 to 3, and so on.
  public var migrations: [RecordMigration] = []
  /// Whether this is the complete declaration: indexes, relations and a schema that it lacks are dropped,
  /// those that it declares differently are replaced. Handles that were opened with the earlier declaration
  /// can then only read.
  public var redeclare: Bool
  /// The conflict policy for a record that was changed both locally and remotely; nil for the stored policy,
  /// `newestWins` at first.
  public var onConflict: ConflictPolicy?
  /// Whether `Store.sync` sends and applies the records; nil for the stored setting, true at first. Entries
  /// that were sent before stay in the remote.
  public var isSynced: Bool?
  /// The host's function for migrations that an older or newer version of the app declared as a callback.
  var callback: RecordCallback.Body?

  public init(
    _ name: String, indexes: [RecordIndex]? = nil, relations: [String: RecordRelation]? = nil,
    sensitive: [String]? = nil, schema: JSONValue? = nil, version: Int? = nil,
    migrations: [RecordMigration] = [], onConflict: ConflictPolicy? = nil, synced: Bool? = nil,
    redeclare: Bool = false
  ) {
    self.name = name
    self.indexes = indexes
    self.relations = relations
    self.sensitive = sensitive
    self.schema = schema
    self.version = version
    self.migrations = migrations
    self.onConflict = onConflict
    isSynced = synced
    self.redeclare = redeclare
  }

  /// Whether the declaration has only a name.
  var isBare: Bool {
    indexes == nil && relations == nil && sensitive == nil && schema == nil && version == nil
      && onConflict == nil
      && isSynced == nil
  }
}
