/* Debian's source asks for this header, which its packaging makes. The folder named is not used here. */
#define DEB_HOST_MULTIARCH "none"
