import SatchelJSON

/// The migration of a collection's documents from one version to the next, and back.
public enum RecordMigration: Sendable {
  /// Declared as data; invertible.
  case steps([MigrationStep])
  /// A function of the host.
  case callback(RecordCallback)

  /// Whether documents can be migrated back.
  package var isInvertible: Bool {
    switch self {
    case .steps: true
    case .callback(let callback): callback.hasInverse
    }
  }

  /// Migrates a document from `version` to `version + 1`.
  ///
  /// - Parameters:
  ///   - document: unchanged when an error is thrown
  ///   - id: the record's id, for a callback
  ///   - kept: receives the values that migrating back needs
  ///   - found: called with each step that finds a value
  /// - Throws: `JSONError` with the pointer of the value that cannot be migrated; errors of the callback.
  package func apply(
    to document: inout JSONObject, id: String, version: Int, kept: inout [KeptValue],
    found: ((_ step: Int) -> Void)? = nil
  ) throws {
    switch self {
    case .callback(let callback):
      document = try callback.run(id: id, document: document, from: version, to: version + 1)
    case .steps(let steps):
      var migrated = MigratedDocument(document)
      for (number, step) in steps.enumerated() {
        if let found, let source = step.source, try migrated.value(at: source) != nil { found(number) }
        try step.apply(to: &migrated, number: number)
      }
      document = try migrated.finish()
      kept += migrated.kept
    }
  }

  /// Migrates a document from `version + 1` back to `version`.
  ///
  /// A document that was migrated and not edited since is restored exactly. Edits are kept.
  ///
  /// - Parameters:
  ///   - document: unchanged when an error is thrown
  ///   - kept: the values that `apply` returned for this record and version; empty for a record written later
  /// - Throws: `JSONError` when a step is not invertible, with the pointer of the value that cannot be
  ///   migrated; errors of the callback.
  package func invert(_ document: inout JSONObject, id: String, version: Int, kept: [KeptValue]) throws {
    switch self {
    case .callback(let callback):
      guard callback.hasInverse else {
        throw JSONError("the migration to version \(version + 1) is a callback that cannot migrate back")
      }
      document = try callback.run(id: id, document: document, from: version + 1, to: version)
    case .steps(let steps):
      var migrated = MigratedDocument(document, kept: kept)
      for (number, step) in steps.enumerated().reversed() { try step.invert(&migrated, number: number) }
      document = try migrated.finish()
    }
  }
}

/// A migration by a function of the host.
public struct RecordCallback: Sendable {
  /// Returns the document in another version, given the record's id, its document and both versions.
  public typealias Body =
    @Sendable (_ id: String, _ document: JSONObject, _ from: Int, _ to: Int) throws -> JSONObject

  /// Whether the function can also migrate back, with `to` less than `from`.
  public let hasInverse: Bool
  private let body: Body?

  /// - Parameter body: nil when the host gave no function, which is an error only when it is needed.
  public init(hasInverse: Bool = false, _ body: Body?) {
    self.hasInverse = hasInverse
    self.body = body
  }

  func run(id: String, document: JSONObject, from: Int, to: Int) throws -> JSONObject {
    guard let body else {
      throw JSONError(
        "the migration to version \(max(from, to)) is a callback, and the host gave no function")
    }
    let result = try body(id, document, from, to)
    guard JSONValue.object(result).depth <= JSONValue.maximumDepth else {
      throw JSONError(
        "the document has more than \(JSONValue.maximumDepth) levels", limit: JSONValue.maximumDepth)
    }
    return result
  }
}
