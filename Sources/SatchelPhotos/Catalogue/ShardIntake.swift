import SatchelStorage

/// Reads the shards of a directory on threads of its own, a few ahead of whoever takes them.
struct ShardIntake {
  /// What became of a shard's file.
  // Unchecked: a file's bytes are not written to any more, and lines only point to them.
  enum Outcome: @unchecked Sendable {
    case missing
    /// As it was when it was imported before.
    case unchanged
    /// The file, and the bytes that it refers to.
    case read(ShardFile, FileBytes)
    case failed(any Error)
  }

  /// Files that are in memory at once, at most, beside the one that was taken.
  private static let ahead = 2
  private static let threads = 2

  private let shards: ReadAhead<Shard.Index, Outcome>
  private let read: @Sendable (Shard.Index) -> Outcome

  /// Begins to read.
  ///
  /// - Parameters:
  ///   - sources: SHA-256 of files that would change nothing
  ///   - manifest: names the files; nil to take them as they are
  init(_ directory: ShardDirectory, sources: [Shard.Index: String], manifest: Manifest? = nil) {
    let rooms = FileRooms()
    let read: @Sendable (Shard.Index) -> Outcome = {
      Self.read($0, directory, sources, manifest?.checksum(of: $0), rooms)
    }
    self.read = read
    shards = ReadAhead(Shard.Index.all, ahead: Self.ahead, threads: Self.threads) { shards in
      while let (index, shard) = shards.next() { shards.give(read(shard), at: index) }
    }
  }

  /// The file of a shard; asked for in order.
  // Without threads, here.
  func take(_ shard: Shard.Index) -> Outcome { shards.take() ?? read(shard) }

  /// Ends reading, and waits for it.
  func stop() { shards.stop() }

  private static func read(
    _ shard: Shard.Index, _ directory: ShardDirectory, _ sources: [Shard.Index: String], _ named: String?,
    _ rooms: FileRooms
  ) -> Outcome {
    do {
      guard let file = try directory.open(shard.fileName) else { return .missing }
      if let source = sources[shard], named ?? source == source, try checksum(of: file) == source {
        return .unchanged
      }
      let bytes = try FileBytes(file, into: rooms)
      return try withExtendedLifetime(bytes) {
        let source = Shard.checksum(bytes.bytes)
        guard named ?? source == source else {
          throw SatchelError(
            .damaged,
            "\(file.path): not the file that manifest.json names, but one of \(bytes.bytes.count) bytes with SHA-256 "
              + source)
        }
        return .read(try ShardFile(bytes.bytes, shard: shard, source: source), bytes)
      }
    } catch {
      return .failed(error)
    }
  }

  /// SHA-256 of a file that probably need not be kept.
  private static func checksum(of file: borrowing DiskFile) throws -> String {
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { room.deallocate() }
    var hash = SHA256()
    var offset: Int64 = 0
    while true {
      let count = try file.read(into: room, at: offset)
      hash.update(UnsafeRawBufferPointer(rebasing: room[..<count]))
      offset += Int64(count)
      if count < room.count { return hash.digest().hexadecimal }
    }
  }
}
