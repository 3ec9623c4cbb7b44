import SatchelCore
import SatchelJSON
import SatchelStorage

/// The decision on a collection and the existing file of its mirror. A value: creating one changes nothing.
enum MirrorDecision {
  /// The file is written from the store: it does not exist, or the store has all of its records.
  case write
  /// The store imports the file's records, because it has none that the file lacks: `isWhole` makes the
  /// collection equal to the file; otherwise only differing and missing records are imported.
  case importFile(MirrorFile, isWhole: Bool)
  /// Each side may have records that the other lacks: neither is changed without a preference. The file is
  /// nil when it cannot be parsed.
  case reject(SatchelError, MirrorFile?)

  /// - Parameters:
  ///   - image: the file; nil when it does not exist
  ///   - history: the digests of the files that this store wrote last
  ///   - version: of the collection's documents
  ///   - records: returns the collection's records
  init(
    _ image: MirrorImage?, _ history: MirrorHistory, mirror: RecordMirror, collection: String, version: Int,
    records: () throws -> [MirrorRecord]
  ) throws {
    guard let image, !history.knows(image.digest) else {
      self = .write
      return
    }
    let file: MirrorFile
    do {
      file = try MirrorFile(
        parsing: image.bytes, as: mirror.format, collection: collection, version: version)
      guard file.version == version else {
        throw JSONError("holds records of version \(file.version), not \(version)", pointer: "/version")
      }
    } catch let error as JSONError {
      self = .reject(
        SatchelError(
          .invalid,
          "\(mirror.path): \(error); the file was not changed: prefer=\"store\" moves it "
            + "aside and writes a new one",
          underlying: error
        ).at(.collection(collection)), nil)
      return
    }
    let records = try records()
    let previous =
      file.layout == .checksummed ? file.previous : MirrorCommit(of: image, mirror.path)?.previous
    if mirror.mode == .fileFirst, let previous, previous == history.last {
      // The file was written for a commit that this store did not complete; no other program has written to
      // it since.
      let store = MirrorFile(
        collection: collection, version: version, previous: nil, records: records, file.layout)
      if try SHA256.digest(store.serialized()).hexadecimal == history.state {
        self = .importFile(file, isWhole: true)
        return
      }
    }
    let differences = try MirrorFile.compare(store: records, mirror: file)
    if differences.isEmpty
      || mirror.mode == .storeFirst && differences.allSatisfy({ $0.kind == .missingInFile })
    {
      self = .write
    } else if differences.allSatisfy({ $0.kind == .missingInStore }) {
      self = .importFile(file, isWhole: false)
    } else {
      self = .reject(Self.rejection(differences, mirror.path, in: collection), file)
    }
  }

  /// Returns an error that counts the differences and names the first of them.
  private static func rejection(
    _ differences: [MirrorDifference], _ path: String, in collection: String
  ) -> SatchelError {
    let kinds: [(MirrorDifference.Kind, String)] = [
      (.missingInStore, "only in the file"), (.differs, "different"), (.missingInFile, "only in the store"),
    ]
    let parts = kinds.compactMap { kind, text -> String? in
      let found = differences.filter { $0.kind == kind }
      guard !found.isEmpty else { return nil }
      let names = found.prefix(3).map { $0.id + ($0.pointer.map { " at \($0)" } ?? "") }
      return "\(found.count) \(text) (\(names.joined(separator: ", "))\(found.count > 3 ? ", …" : ""))"
    }
    return SatchelError(
      .invalid,
      "\(path): differs from the collection \(collection): \(parts.joined(separator: ", ")). "
        + "Nothing was changed: prefer=\"file\" imports the file into the store, "
        + "prefer=\"store\" moves the file aside and writes it"
    )
  }
}

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
    let here = store.ordered(by: MirrorRecord.precedes)
    let there =
      mirror.layout == .checksummed ? mirror.records : mirror.records.ordered(by: MirrorRecord.precedes)
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
