/// A file that is written aside, and then takes the place of another: whoever reads sees the one or the other, also
/// after a power cut. Given up before that, it is removed.
///
/// Writers of several threads and processes wait for each other, and go on with what a killed one left aside.
package struct PartFile: ~Copyable {
  private static let roomSize = 1 << 18

  private let path: String
  private let file: DiskFile
  private let room: UnsafeMutableRawBufferPointer
  /// Bytes in the room, and in the file.
  private var count = 0
  private var written: Int64 = 0
  private var isInPlace = false

  /// - Parameter path: whose place it will take, in a directory that exists; it is written to `path` with ".part"
  package init(replacing path: String) throws {
    let file = try Self.locked(path + ".part")
    try file.truncate(to: 0)
    self.path = path
    self.file = file
    room = .allocate(byteCount: Self.roomSize, alignment: 16)
  }

  deinit {
    if !isInPlace { unlink(file.path) }
    room.deallocate()
  }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
    if count + bytes.count > room.count { try flush() }
    guard bytes.count <= room.count else {
      try file.write(bytes, at: written)
      written += Int64(bytes.count)
      return
    }
    UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  private mutating func flush() throws {
    try file.write(UnsafeRawBufferPointer(rebasing: room[..<count]), at: written)
    written += Int64(count)
    count = 0
  }

  /// Takes its place, with the permissions of the file that was there. `DiskFile.syncDirectory` makes its name survive
  /// a power cut.
  package consuming func finish() throws {
    try flush()
    var old = stat()
    // Who may read it was somebody's decision.
    if stat(path, &old) == 0 { _ = fchmod(file.descriptor, old.st_mode & 0o777) }
    try file.sync()
    guard rename(file.path, path) == 0 else { throw SatchelError(errno: errno, path) }
    isInPlace = true
  }

  /// Opens the file that is written aside, when no other writer has it.
  private static func locked(_ part: String) throws -> DiskFile {
    while true {
      let file = try DiskFile(part, O_RDWR | O_CREAT | O_NOFOLLOW)
      while flock(file.descriptor, LOCK_EX) != 0 {
        guard errno == EINTR else { throw SatchelError(errno: errno, part) }
      }
      // While we waited it may have taken its place.
      if try file.isAtPath { return file }
    }
  }
}
