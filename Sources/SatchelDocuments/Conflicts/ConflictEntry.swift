import SatchelCore
import SatchelJSON
import SatchelStorage

/// An entry of the conflict log: two versions of a record or of a photo, of which a synchronization or an import kept
/// one, or about which somebody has to decide.
public struct ConflictEntry: Sendable, Equatable, Identifiable, JSONConvertible {
  /// The record or photo that a conflict is about.
  public enum Item: Sendable, Hashable {
    case record(collection: String, id: String)
    /// The catalogue's directory, and the photo's MD5 as 32 hexadecimal digits.
    case photo(directory: String, md5: String)
  }

  // The numbers of all of these are stored.
  public enum Kind: Int64, Sendable, CaseIterable {
    /// The host has to decide.
    case open = 0
    /// The remote version cannot be applied yet; see `code` and `reason`.
    case waiting = 1
    /// A version was discarded: by the conflict policy, because of a relation, or by an imported file. `side` says
    /// which.
    case lost = 2

    public var name: String { self == .open ? "open" : self == .waiting ? "waiting" : "lost" }
  }

  /// The operation that met both versions.
  public enum Cause: Int64, Sendable, CaseIterable {
    /// A synchronization.
    case sync = 0
    /// An imported file of photos.
    case `import` = 1

    public var name: String { self == .sync ? "sync" : "import" }
  }

  /// Increases from conflict to conflict, whatever they are about.
  public var id: Int64
  public var item: Item
  public var kind: Kind
  /// Of a lost one, the side whose version was discarded, as a whole or where both had changed the same member.
  public var side: ConflictSide?
  public var cause: Cause
  /// Unix milliseconds.
  public var time: Int64
  /// The local document or photo, of a lost one as it was then; nil when it was deleted.
  public var local: JSONValue?
  /// The remote one; nil when it was deleted.
  public var remote: JSONValue?
  /// The last synced one; nil when there was none.
  public var base: JSONValue?
  /// The reason why a waiting remote version cannot be applied.
  public var code: SatchelError.Code?
  public var reason: String?

  /// Of a record, its id.
  public var record: String? {
    guard case .record(_, let id) = item else { return nil }
    return id
  }

  /// The conflict as the C interface has it.
  public var json: JSONValue {
    var json: JSONObject = ["id": .int(id)]
    switch item {
    case .record(let collection, let id):
      json["subject"] = "records"
      json["collection"] = .string(collection)
      json["record"] = .string(id)
    case .photo(let directory, let md5):
      json["subject"] = "photos"
      json["directory"] = .string(directory)
      json["md5"] = .string(md5)
    }
    json["kind"] = .string(kind.name)
    json["side"] = side.map { .string($0.name) } ?? .null
    json["cause"] = .string(cause.name)
    json["time"] = .int(time)
    (json["local"], json["remote"], json["base"]) = (local ?? .null, remote ?? .null, base ?? .null)
    json["code"] = code.map { .int(Int64($0.rawValue)) } ?? .null
    json["reason"] = reason.map { .string($0) } ?? .null
    return .object(json)
  }
}

/// A side of a conflict.
public enum ConflictSide: Int64, Sendable, CaseIterable {
  case local = 0
  case remote = 1

  public var name: String { self == .local ? "local" : "remote" }
}

/// The decision that resolves a conflict.
public enum ConflictResolution: Sendable, Equatable {
  case keepLocal
  case keepRemote
  /// A document of a record, or a photo.
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
