import SatchelJSON

/// How the documents of a collection get from one version to the next, and back.
public enum RecordMigration: Sendable {
  /// Declared as data, with a way back.
  case steps([MigrationStep])
  /// Left to the host.
  case callback(RecordCallback)

  /// Whether there is a way back.
  public var isInvertible: Bool {
    switch self {
    case .steps: true
    case .callback(let callback): callback.hasInverse
    }
  }

  /// Changes a document of `version` into one of `version + 1`.
  ///
  /// - Parameters:
  ///   - document: unchanged after an error
  ///   - id: of the record, for a callback
  ///   - kept: gets what the way back needs to know
  /// - Throws: `JSONError` with the pointer of what stands in the way; what the callback throws.
  public func apply(
    to document: inout JSONObject, id: String, version: Int, kept: inout [KeptValue]
  ) throws {
    switch self {
    case .callback(let callback):
      document = try callback.run(id: id, document: document, from: version, to: version + 1)
    case .steps(let steps):
      var migrated = MigratedDocument(document)
      for (number, step) in steps.enumerated() { try step.apply(to: &migrated, number: number) }
      document = try migrated.finish()
      kept += migrated.kept
    }
  }

  /// Changes a document of `version + 1` into one of `version`.
  ///
  /// A document that was migrated and not edited since becomes what it was. Where it was edited, edits stay.
  ///
  /// - Parameters:
  ///   - document: unchanged after an error
  ///   - kept: what `apply` gave for this record and version; nothing for a record that is younger
  /// - Throws: `JSONError` when a step has no way back, with the pointer of what stands in the way; what the
  ///   callback throws.
  public func invert(_ document: inout JSONObject, id: String, version: Int, kept: [KeptValue]) throws {
    switch self {
    case .callback(let callback):
      guard callback.hasInverse else {
        throw JSONError("version \(version + 1) was made by a callback that has no way back")
      }
      document = try callback.run(id: id, document: document, from: version + 1, to: version)
    case .steps(let steps):
      var migrated = MigratedDocument(document, kept: kept)
      for (number, step) in steps.enumerated().reversed() { try step.invert(&migrated, number: number) }
      document = try migrated.finish()
    }
  }
}
