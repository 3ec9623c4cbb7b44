import SatchelJSON
import SatchelStorage

/// What becomes of a collection and of a mirror's file that was found beside it. A value: making one changes nothing.
enum MirrorDecision {
  /// The file is written from the store: there is none, or it has nothing that the store lacks.
  case write
  /// The store takes what the file has: all of it as it is, or only what the store lacks.
  case take(MirrorFile, isWhole: Bool)
  /// Each side may have what the other lacks: neither is changed unasked. Without a file when that cannot be read.
  case refuse(SatchelError, MirrorFile?)

  /// - Parameters:
  ///   - image: the file; nil when there is none
  ///   - memory: what this store wrote last
  ///   - version: of the collection's documents
  ///   - records: the collection's
  init(
    _ image: MirrorImage?, _ memory: MirrorMemory, _ mirror: RecordMirror, collection: String, version: Int,
    records: () throws -> [MirrorRecord]
  ) throws {
    guard let image, !memory.knows(image.digest) else {
      self = .write
      return
    }
    let file: MirrorFile
    do {
      file = try MirrorFile(parsing: image.bytes, collection: collection)
      guard file.version == version else {
        throw JSONError("holds records of version \(file.version), not \(version)", pointer: "/version")
      }
    } catch let error as JSONError {
      self = .refuse(
        SatchelError(
          .invalid, "\(mirror.path): \(error); it stays as it is: prefer=\"store\" moves it aside",
          underlying: error), nil)
      return
    }
    let records = try records()
    if mirror.mode == .fileFirst, let previous = file.previous, previous == memory.last {
      // Written for a commit that this store did not live to make; nobody else has written to it since.
      let store = MirrorFile(collection: collection, version: version, records: records)
      if try SHA256.digest(store.serialized()).hexadecimal == memory.state {
        self = .take(file, isWhole: true)
        return
      }
    }
    let differences = try MirrorFile.compare(store: records, mirror: file)
    let differing = differences.contains { $0.kind == .differs }
    switch mirror.mode {
    case .storeFirst where !differing && !differences.contains { $0.kind == .missingInStore }:
      self = .write
    case .fileFirst where !differing && !differences.contains { $0.kind == .missingInFile }:
      self = differences.isEmpty ? .write : .take(file, isWhole: false)
    default:
      self = .refuse(Self.refusal(differences, mirror.path, collection), file)
    }
  }

  /// Counts the differences, and names the first of them.
  private static func refusal(
    _ differences: [MirrorDifference], _ path: String, _ collection: String
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
      "\(path): is not as the collection \(collection): \(parts.joined(separator: ", ")). Nothing was changed: "
        + "prefer=\"file\" takes what the file has into the store, prefer=\"store\" moves the file aside and writes it"
    )
  }
}
