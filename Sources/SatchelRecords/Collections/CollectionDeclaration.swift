import SatchelJSON
import SatchelStorage

/// A field by which records are found fast.
public struct RecordIndex: Equatable, Sendable {
  /// "a.b" or a JSON Pointer.
  public var path: String
  /// Whether two records must not have the same value there. What is null or missing does not count.
  public var isUnique: Bool

  public init(_ path: String, unique: Bool = false) {
    self.path = path
    isUnique = unique
  }
}

/// A field that holds the id of a record of some collection, or an array of ids.
public struct RecordRelation: Equatable, Sendable {
  /// What becomes of the record when the one it names is deleted.
  public enum OnDelete: String, Sendable, CaseIterable {
    /// The other one cannot be deleted while this one names it.
    case restrict
    /// This one is deleted, too.
    case cascade
    /// The field becomes null; of an array the id is taken out.
    case nullify
  }

  /// The collection that is named; may be its own.
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

/// What is declared of a collection when it is opened: it adds indexes, relations and a schema to what the store has,
/// and removes none, except with `redeclare`. A declaration of nothing but the name opens the collection as it is.
public struct CollectionDeclaration: Sendable {
  /// [a-z][a-z0-9_]{0,63}
  public var name: String
  public var indexes: [RecordIndex]?
  /// By path.
  public var relations: [String: RecordRelation]?
  /// JSON Schema (2020-12) that documents must fulfil when they are written.
  public var schema: JSONValue?
  /// The version of the documents; 1 when it is not named.
  public var version: Int?
  /// How documents get from version 1 to 2, from 2 to 3, and so on.
  public var migrations: [RecordMigration] = []
  /// Whether this is the whole declaration: indexes, relations and a schema that it does not name are dropped, those
  /// that it declares otherwise are replaced. Handles that are open then no longer write.
  public var redeclare: Bool
  /// The host's function for steps that an older or newer app left to it.
  var callback: RecordCallback.Body?

  public init(
    _ name: String, indexes: [RecordIndex]? = nil, relations: [String: RecordRelation]? = nil,
    schema: JSONValue? = nil, version: Int? = nil, migrations: [RecordMigration] = [], redeclare: Bool = false
  ) {
    self.name = name
    self.indexes = indexes
    self.relations = relations
    self.schema = schema
    self.version = version
    self.migrations = migrations
    self.redeclare = redeclare
  }

  /// Whether it opens the collection as it is.
  var isBare: Bool { indexes == nil && relations == nil && schema == nil && version == nil }
}
