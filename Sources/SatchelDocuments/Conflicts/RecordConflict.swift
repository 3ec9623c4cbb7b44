import SatchelCore
import SatchelJSON
import SatchelStorage

/// A conflict between the local and the remote version of a record.
public struct RecordConflict: Sendable, JSONConvertible {
  public enum Kind: String, Sendable {
    /// The host has to decide.
    case open
    /// A version was discarded: by the conflict policy, or because of a relation. `side` says which.
    case lost
    /// The remote version cannot be applied yet; see `code` and `reason`.
    case waiting
  }

  public var id: Int64
  /// The record's id.
  public var record: String
  public var kind: Kind
  /// Of a lost one, the side whose version was discarded, as a whole or where both had changed the same member.
  public var side: ConflictSide?
  /// Unix milliseconds.
  public var time: Int64
  /// The local document, of a lost one as it was then; nil when it was deleted.
  public var local: JSONValue?
  /// The remote document; nil when it was deleted.
  public var remote: JSONValue?
  /// The last synced document; nil when there was none.
  public var base: JSONValue?
  /// The reason why a waiting remote version cannot be applied.
  public var code: SatchelError.Code?
  public var reason: String?

  public var json: JSONValue {
    [
      "id": .int(id), "record": .string(record), "kind": .string(kind.rawValue),
      "side": side.map { .string($0.rawValue) } ?? .null, "time": .int(time),
      "local": local ?? .null, "remote": remote ?? .null, "base": base ?? .null,
      "code": code.map { .int(Int64($0.rawValue)) } ?? .null, "reason": reason.map { .string($0) } ?? .null,
    ]
  }
}

/// A side of a conflict.
public enum ConflictSide: String, Sendable {
  case local
  case remote
}

/// The decision that resolves a conflict.
public enum RecordResolution: Sendable {
  case keepLocal
  case keepRemote
  case document(JSONValue)
  case delete

  /// Reads `{"keep": "local" | "remote"}` or `{"document": {…} | null}`.
  ///
  /// - Throws: `SatchelError` `.invalid`
  package init(json: JSONValue) throws {
    guard case .object(let members) = json, members.count == 1, let member = members.first else {
      throw SatchelError(.invalid, "resolution: must be {\"keep\"} or {\"document\"}")
    }
    switch (member.key, member.value) {
    case ("keep", .string("local")): self = .keepLocal
    case ("keep", .string("remote")): self = .keepRemote
    case ("document", .null): self = .delete
    case ("document", .object): self = .document(member.value)
    case ("keep", _): throw SatchelError(.invalid, "resolution: /keep: must be local or remote")
    case ("document", _): throw SatchelError(.invalid, "resolution: /document: must be an object or null")
    default: throw SatchelError(.invalid, "resolution: must be {\"keep\"} or {\"document\"}")
    }
  }
}
