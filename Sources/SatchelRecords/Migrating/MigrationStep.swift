import SatchelJSON

/// One declared change of documents. Paths lead to members of objects, not to elements of arrays.
public enum MigrationStep: Sendable {
  /// Gives a member another name. A document without it stays as it is.
  case rename(from: JSONPath, to: JSONPath)
  /// Takes a member elsewhere; objects on the way are made. A document without it stays as it is.
  case move(from: JSONPath, to: JSONPath)
  /// Sets a member that is missing; null is not missing. On the way back it goes if it is still the same.
  case setDefault(path: JSONPath, value: JSONValue)
  /// Takes a member out; the way back puts it in again.
  case remove(path: JSONPath)
  /// Makes another kind of value of a member; see `MigrationKind`. The way back goes to the kind that it was; in
  /// documents that are younger than the migration to `from`, and nowhere when that is not given.
  case convert(path: JSONPath, to: MigrationKind, from: MigrationKind?)

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
        guard let value = try document.take(path) else { return }
        document.keep(value, at: path.pointer, number: number)
      case .convert(let path, let kind, let from):
        guard let value = try document.value(at: path) else { return }
        let converted = try kind.convert(value)
        // What the way back makes of it by itself need not be kept.
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
        // What stood there before was not put there by this step.
        if document.kept(at: from.pointer, number: number) != nil { return }
        guard try document.value(at: to) != nil else { return }
        try document.move(from: to, to: from, number: nil)
        try document.removeMadeParents(of: to, number: number)
      case .setDefault(let path, let value):
        guard document.kept(at: path.pointer, number: number) != nil,
          try document.value(at: path) == value
        else { return }
        _ = try document.take(path)
        try document.removeMadeParents(of: path, number: number)
      case .remove(let path):
        guard let value = document.kept(at: path.pointer, number: number)?.value,
          try document.value(at: path) == nil
        else { return }
        try document.put(value, at: path, number: nil)
      case .convert(let path, let kind, let from):
        try invertConversion(&document, path, kind, from, number)
      }
    }
  }

  private func invertConversion(
    _ document: inout MigratedDocument, _ path: JSONPath, _ kind: MigrationKind, _ from: MigrationKind?,
    _ number: Int
  ) throws {
    guard let value = try document.value(at: path) else { return }
    guard let old = document.kept(at: path.pointer, number: number)?.value else {
      if let from { try document.replace(path, with: kind.revert(value, to: from)) }
      return
    }
    // Not edited since: exactly what it was, with its spelling.
    if let converted = try? kind.convert(old), converted == value {
      try document.replace(path, with: old)
    } else {
      try document.replace(path, with: kind.revert(value, to: MigrationKind(of: old)))
    }
  }

  /// Says in errors which step it was; they name the place themselves, or mean the step's own.
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

  /// What it is about, for errors.
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
