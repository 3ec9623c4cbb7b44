/// Bytes that live as long as somebody holds them.
final class OwnedBytes {
  private let room: UnsafeMutableRawBufferPointer

  init(_ bytes: [UInt8]) {
    room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    room.copyBytes(from: bytes)
  }

  deinit { room.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(room) }
}
