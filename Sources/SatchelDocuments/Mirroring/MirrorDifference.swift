import SatchelJSON

/// A record that differs between a collection and its mirror.
public struct MirrorDifference: Sendable, Equatable, JSONConvertible {
  public enum Kind: String, Sendable {
    case missingInFile = "missing_in_file"
    case missingInStore = "missing_in_store"
    case differs
  }

  public let id: String
  public let kind: Kind
  /// The JSON Pointer to the first difference of the documents; nil when one is missing, or only revision or
  /// times differ.
  public let pointer: String?

  /// The difference as JSON.
  public var json: JSONValue {
    ["id": .string(id), "kind": .string(kind.rawValue), "pointer": pointer.map { .string($0) } ?? .null]
  }
}

extension MirrorFile {
  /// Returns the differences between the store and a mirror, ordered by id.
  ///
  /// Documents are compared as values: white space, the order of keys and escapes do not matter.
  ///
  /// - Parameter store: the collection's records, in any order
  package static func compare(store: some Sequence<MirrorRecord>, mirror: MirrorFile) throws
    -> [MirrorDifference]
  {
    let here = store.sorted(by: MirrorRecord.precedes)
    let there =
      mirror.layout == .checksummed ? mirror.records : mirror.records.sorted(by: MirrorRecord.precedes)
    var differences: [MirrorDifference] = []
    var (one, other) = (0, 0)
    while one < here.count || other < there.count {
      if other == there.count || one < here.count && MirrorRecord.precedes(here[one], there[other]) {
        differences.append(MirrorDifference(id: here[one].id, kind: .missingInFile, pointer: nil))
        one += 1
      } else if one == here.count || MirrorRecord.precedes(there[other], here[one]) {
        differences.append(MirrorDifference(id: there[other].id, kind: .missingInStore, pointer: nil))
        other += 1
      } else {
        let difference = try difference(here[one], there[other], idMember: mirror.layout.idMember)
        if let difference { differences.append(difference) }
        one += 1
        other += 1
      }
    }
    return differences
  }

  /// - Parameter idMember: the member that a document may lack, because the mirror's layout adds it
  private static func difference(
    _ one: MirrorRecord, _ other: MirrorRecord, idMember: String?
  ) throws -> MirrorDifference? {
    if one == other { return nil }
    var pointer: String?
    if one.document != other.document {
      let documents = try (
        value(one.document, without: idMember, of: one.id),
        value(other.document, without: idMember, of: one.id)
      )
      pointer = firstDifference(documents.0, documents.1).map { JSONPath.pointer($0) }
    }
    // A plain file has neither revision nor times.
    let isSame =
      one.revision == 0 || other.revision == 0
      || one.revision == other.revision && one.created == other.created && one.modified == other.modified
    guard pointer != nil || !isSame else { return nil }
    return MirrorDifference(id: one.id, kind: .differs, pointer: pointer)
  }

  /// Returns a document, without the member that is its id.
  private static func value(_ document: [UInt8], without member: String?, of id: String) throws -> JSONValue {
    let value = try JSONValue(parsing: document)
    guard let member, case .object(var members) = value, let found = members[member] else { return value }
    let isID = found.stringValue?.hasSameBytes(as: id) ?? (found.intValue.map { String($0) == id } ?? false)
    guard isID else { return value }
    members[member] = nil
    return .object(members)
  }

  /// Returns the path to the first value that differs; nil when all are equal. Scanned documents have at most
  /// 512 levels, which limits the recursion.
  private static func firstDifference(_ one: JSONValue, _ other: JSONValue) -> [String]? {
    switch (one, other) {
    case (.object(let members), .object(let others)):
      for (key, value) in members {
        guard let same = others[key] else { return [key] }
        if let rest = firstDifference(value, same) { return [key] + rest }
      }
      return others.keys.first { members[$0] == nil }.map { [$0] }
    case (.array(let elements), .array(let others)):
      for (index, pair) in zip(elements, others).enumerated() {
        if let rest = firstDifference(pair.0, pair.1) { return [String(index)] + rest }
      }
      return elements.count == others.count ? nil : [String(min(elements.count, others.count))]
    default: return one == other ? nil : []
    }
  }
}
