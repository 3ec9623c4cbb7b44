import SatchelCore
import SatchelJSON
import SatchelStorage

/// How long the records of a collection exist.
public enum RecordLifetime: Equatable, Sendable, JSONConvertible {
  /// Until the time that the document has at a path, in any form of ISO 8601; where it is null or missing, it never
  /// expires.
  case until(String)
  /// For a number of seconds after the latest write of the record, 1 to `maxSeconds`.
  case seconds(Int64)

  /// A hundred years.
  public static let maxSeconds: Int64 = 3_155_760_000

  /// The path, or the number of seconds.
  public var json: JSONValue {
    switch self {
    case .until(let path): .string(path)
    case .seconds(let number): .int(number)
    }
  }

  init(_ json: JSONValue, at pointer: String) throws {
    switch json {
    case .string(let path): self = .until(path)
    case .int(let number) where (1...Self.maxSeconds).contains(number): self = .seconds(number)
    default:
      throw JSONError("must be a path, or a number of seconds from 1 to \(Self.maxSeconds)", pointer: pointer)
    }
  }

  /// The field by which records expire.
  var path: String {
    switch self {
    case .until(let path): path
    case .seconds: "@modified"
    }
  }
}

extension CollectionDeclaration {
  /// The indexes, and that of the field by which records expire.
  var allIndexes: [RecordIndex] {
    let indexes = (indexes ?? []).map(\.untyped)
    guard let ttl, !indexes.contains(where: { $0.paths == [ttl.path] && $0.filter == nil }) else {
      return indexes
    }
    return indexes + [RecordIndex(ttl.path)]
  }

  /// - Throws: `.invalid` for a lifetime that records of the collection cannot have
  func checkLifetime() throws {
    guard let ttl else { return }
    func fail(_ reason: String) -> SatchelError { SatchelError(.invalid, "\(name): ttl: \(reason)") }
    if isSynced == true {
      throw fail("a collection whose records expire is not synchronized: declare it with synced=false")
    }
    switch ttl {
    case .seconds(let number):
      guard (1...RecordLifetime.maxSeconds).contains(number) else {
        throw fail("must be a number of seconds from 1 to \(RecordLifetime.maxSeconds), not \(number)")
      }
    case .until(let path):
      guard case .document = try FieldPath(path) else {
        throw fail("\"\(path)\" is no path into the documents")
      }
      if let type = allTypes[path], type != .time {
        throw fail("\"\(path)\" is declared as \(type.kind.rawValue): records expire at a time")
      }
    }
    for (path, relation) in relations ?? [:]
    where relation.collection == name && relation.onDelete == .restrict {
      throw fail(
        "the relation \"\(path)\" would keep expired records: declare it with on_delete cascade or nullify")
    }
  }
}

/// When the records of a collection expire, as its declaration says.
struct RecordExpiry: Sendable {
  let path: FieldPath
  /// The milliseconds after the time at the path.
  private let age: Int64
  /// Has the field of every record; nil in a store that cannot be written.
  let index: CollectionIndex?

  /// - Throws: `.invalid` for an invalid path
  init?(_ lifetime: RecordLifetime?, _ indexes: [CollectionIndex]) throws {
    guard let lifetime else { return nil }
    switch lifetime {
    case .until(let text): (path, age) = (try FieldPath(stored: text).typed(.time), 0)
    case .seconds(let number): (path, age) = (.modified, number * 1000)
    }
    index = indexes.first { [path] in $0.path == path && $0.definition.isPlain }
  }

  /// The keys in the index of the records that have expired at a time.
  func expired(at now: Int64) -> KeyRange {
    var key: [UInt8] = []
    if path == .modified {
      ValueKey.append(now - age, to: &key)
    } else {
      key = [ValueKey.time] + RecordType.timeKey(of: now)
    }
    return KeyRange(lower: [key[0]], upper: ValueKey.successor(key))
  }

  /// The keys of those that will expire.
  func unexpired(at now: Int64) -> KeyRange {
    let expired = expired(at: now)
    return KeyRange(lower: expired.upper, upper: [expired.lower[0] + 1])
  }

  /// The condition that only records fulfil which have expired at a time.
  func filter(at now: Int64) -> RecordFilter {
    path == .modified
      ? .field(path.text, .lessOrEqual(.int(now - age)))
      : .field(path.text, .lessOrEqual(.string(Self.text(of: now))))
  }

  private static func text(of time: Int64) -> String {
    let (seconds, rest) = ISODateTime.floored(time, by: 1000)
    return ISODateTime.text(seconds: seconds, fraction: "." + ISODateTime.padded(rest, 3))
  }

  func isExpired(_ candidate: borrowing Candidate, at now: Int64) throws -> Bool {
    var key: [UInt8] = []
    ValueKey.append(try candidate.field(path), to: &key)
    let expired = expired(at: now)
    return !key.lexicographicallyPrecedes(expired.lower) && key.lexicographicallyPrecedes(expired.upper)
  }

  /// Returns when a record expires, in Unix milliseconds; nil for never.
  func time(of candidate: borrowing Candidate) throws -> Int64? {
    switch try candidate.field(path) {
    case .int(let modified): modified + age
    case .typed(let value): value.milliseconds
    default: nil
    }
  }

  /// - Throws: `.invalid` for a document whose value at the path is no time
  func check(
    _ document: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer, in collection: CollectionState
  ) throws {
    guard case .document(let path) = path else { return }
    switch DocumentReader(document).field(path) {
    case .missing, .null: return
    case .typed(let value) where value.tag == ValueKey.time: return
    default:
      throw collection.problem(
        key, path.pointer, reason: "must be a time of ISO 8601 or null: the record expires then",
        code: .invalid)
    }
  }
}
