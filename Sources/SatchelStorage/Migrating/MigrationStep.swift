import SatchelJSON

/// One declared step of a migration. Paths lead to members of objects, not to elements of arrays.
public enum MigrationStep: Sendable {
  /// Renames a member. A document without it is unchanged.
  case rename(from: JSONPath, to: JSONPath)
  /// Moves a member; missing parent objects are created. A document without it is unchanged.
  case move(from: JSONPath, to: JSONPath)
  /// Sets a member that is missing; null is not missing. Migrating back removes it if it still has the same
  /// value.
  case setDefault(path: JSONPath, value: JSONValue)
  /// Removes a member; migrating back inserts it again.
  case remove(path: JSONPath)
  /// Converts a member to another kind; see `MigrationKind`. Migrating back converts it to its previous kind;
  /// in documents written after the migration to `from`, or not at all when that is nil.
  case convert(path: JSONPath, to: MigrationKind, from: MigrationKind? = nil)

  /// The path of the value that the step needs; nil where it makes one.
  package var source: JSONPath? {
    switch self {
    case .rename(let from, _), .move(let from, _): from
    case .remove(let path), .convert(let path, _, _): path
    case .setDefault: nil
    }
  }

  func apply(to document: inout MigratedDocument, number: Int) throws {
    try naming(&document) { document in
      switch self {
      case .rename(let from, let to), .move(let from, let to):
        try document.move(from: from, to: to, number: number)
      case .setDefault(let path, let value):
        guard try document.value(at: path) == nil else { return }
        try document.put(value, at: path, number: number)
        document.keep(nil, at: path.pointer, number: number)
      case .remove(let path):
        guard let value = try document.remove(path) else { return }
        document.keep(value, at: path.pointer, number: number)
      case .convert(let path, let kind, let from):
        guard let value = try document.value(at: path) else { return }
        let converted = try kind.convert(value)
        // A value that the inverse conversion restores is not kept.
        let isKnown = from.map { (try? kind.revert(converted, to: $0)) == value } ?? false
        if !isKnown { document.keep(value, at: path.pointer, number: number) }
        try document.replace(path, with: converted)
      }
    }
  }

  func invert(_ document: inout MigratedDocument, number: Int) throws {
    try naming(&document) { document in
      switch self {
      case .rename(let from, let to), .move(let from, let to):
        // The target had a value before, which this step did not move there.
        if document.kept(at: from.pointer, number: number) != nil { return }
        guard try document.value(at: to) != nil else { return }
        try document.move(from: to, to: from, number: nil)
        try document.removeMadeParents(of: to, number: number)
      case .setDefault(let path, let value):
        guard document.kept(at: path.pointer, number: number) != nil,
          try document.value(at: path) == value
        else { return }
        _ = try document.remove(path)
        try document.removeMadeParents(of: path, number: number)
      case .remove(let path):
        guard let value = document.kept(at: path.pointer, number: number)?.value,
          try document.value(at: path) == nil
        else { return }
        try document.put(value, at: path, number: nil)
      case .convert(let path, let kind, let from):
        try invertConversion(&document, path, kind: kind, from: from, number: number)
      }
    }
  }

  private func invertConversion(
    _ document: inout MigratedDocument, _ path: JSONPath, kind: MigrationKind, from: MigrationKind?,
    number: Int
  ) throws {
    guard let value = try document.value(at: path) else { return }
    guard let old = document.kept(at: path.pointer, number: number)?.value else {
      if let from { try document.replace(path, with: kind.revert(value, to: from)) }
      return
    }
    // Not edited since: restore exactly the previous value, byte for byte.
    if let converted = try? kind.convert(old), converted == value {
      try document.replace(path, with: old)
    } else {
      try document.replace(path, with: kind.revert(value, to: MigrationKind(of: old)))
    }
  }

  /// Names the step in errors, and adds its path to those without a pointer.
  private func naming(
    _ document: inout MigratedDocument, _ body: (inout MigratedDocument) throws -> Void
  ) throws {
    do {
      try body(&document)
    } catch var error as JSONError {
      error.reason = "\(name): \(error.reason)"
      error.pointer = error.pointer ?? path.pointer
      throw error
    }
  }

  /// The path that the step changes, for errors.
  private var path: JSONPath {
    switch self {
    case .rename(let path, _), .move(let path, _), .setDefault(let path, _), .remove(let path),
      .convert(let path, _, _):
      path
    }
  }

  private var name: String {
    switch self {
    case .rename(_, let to): "rename to \(to.pointer)"
    case .move(_, let to): "move to \(to.pointer)"
    case .setDefault: "default"
    case .remove: "remove"
    case .convert(_, let kind, _): "convert to \(kind.rawValue)"
    }
  }
}
