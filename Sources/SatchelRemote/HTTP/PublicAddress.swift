import SatchelCore

/// Distinguishes addresses of the public internet from those of networks at this end: a URL in content must not make a
/// device ask its own services, its router, or the metadata service of its cloud.
package enum PublicAddress {
  /// Whether an address of 4 or 16 bytes is public, by the registries of special-purpose addresses (RFC 6890).
  package static func isPublic(_ address: UnsafeRawBufferPointer) -> Bool {
    switch address.count {
    case 4: isPublicIPv4(address[0], address[1], address[2], address[3])
    case 16: isPublicIPv6(address)
    default: false
    }
  }

  private static func isPublicIPv4(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) -> Bool {
    switch (first, second, third) {
    // This network, private use, loopback; multicast and reserved addresses, broadcast included.
    case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
    // Shared address space of carriers, link-local, private use.
    case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _): false
    // Protocol assignments, documentation, the relays of 6to4.
    case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
    // Benchmarks.
    case (198, 18...19, _): false
    default: true
    }
  }

  private static func isPublicIPv6(_ bytes: UnsafeRawBufferPointer) -> Bool {
    // An IPv4 address behind the translator of a network that has no IPv4 (RFC 6052): every mobile network with DNS64.
    let translated: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]
    if bytes.starts(with: translated) { return isPublicIPv4(bytes[12], bytes[13], bytes[14], bytes[15]) }
    // Only this block is assigned to the internet: loopback, IPv4-mapped, unique local, link-local and multicast
    // addresses are outside of it.
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    return switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    // Protocol assignments with Teredo, documentation.
    case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0D, 0xB8): false
    // 6to4, which has an IPv4 address in it; documentation.
    case (0x20, 0x02, _, _), (0x3F, 0xFF, 0x00...0x0F, _): false
    default: true
    }
  }

  /// Returns the text of an address, for messages: "127.0.0.1", "fe80:0:0:0:0:0:0:1".
  static func text(_ address: UnsafeRawBufferPointer) -> String {
    if address.count == 4 { return address.map { String($0) }.joined(separator: ".") }
    return stride(from: 0, to: address.count - 1, by: 2)
      .map { String(Int(address[$0]) << 8 | Int(address[$0 + 1]), radix: 16) }.joined(separator: ":")
  }

  /// Reads a host that is an address: "10.0.0.1", "[::1]"; nil for a name.
  private static func bytes(_ host: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if host.hasPrefix("[") {
      return inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &bytes) == 1 ? bytes : nil
    }
    return inet_pton(AF_INET, host, &bytes) == 1 ? Array(bytes.prefix(4)) : nil
  }

  /// Whether a host is an address that is not public. Names are judged when they are resolved.
  package static func isPrivateAddress(_ host: String) -> Bool {
    bytes(host).map { bytes in bytes.withUnsafeBytes { !isPublic($0) } } ?? false
  }

  /// Whether a host is meant to be in a network at this end: an address that is not public, or a name that is not part of
  /// the public DNS (RFC 6761, 6762, 8375): "localhost", a name without a dot, and below "localhost", "local",
  /// "internal" and "home.arpa".
  package static func isPrivate(host: String) -> Bool {
    if bytes(host) != nil { return isPrivateAddress(host) }
    let name = host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
    if !name.utf8.contains(UInt8(ascii: ".")) { return !name.utf8.allSatisfy { $0 &- 0x30 < 10 } }
    return [".localhost", ".local", ".internal", ".home.arpa"].contains { name.hasSuffix($0) }
  }
}
