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
    _ image: MirrorImage?, _ history: MirrorHistory, _ mirror: RecordMirror, collection: String, version: Int,
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
      self = .reject(Self.rejection(differences, mirror.path, collection), file)
    }
  }

  /// Returns an error that counts the differences and names the first of them.
  private static func rejection(
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
      "\(path): differs from the collection \(collection): \(parts.joined(separator: ", ")). "
        + "Nothing was changed: prefer=\"file\" imports the file into the store, "
        + "prefer=\"store\" moves the file aside and writes it"
    )
  }
}
